import Logging

/// Formats each line as a real log handler would, and drops it.
struct DroppingLogHandler: LogHandler {
    let label: String
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.info

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        var line = "\(event.level) \(label):"
        for (key, value) in metadata { line += " \(key)=\(value)" }
        for (key, value) in event.metadata ?? [:] { line += " \(key)=\(value)" }
        line += " \(event.message)\n"
        DroppingLogHandler.drop(line)
    }

    /// Not inlined, so that the compiler cannot remove the formatting of the line.
    @inline(never)
    private static func drop(_ line: String) {}
}
