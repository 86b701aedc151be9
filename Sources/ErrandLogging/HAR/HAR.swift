/// HTTP traffic in the HAR format, version 1.2, which browsers export and many tools read.
///
/// ```swift
/// let har = try HAR(contentsOf: "traffic.har")
/// for entry in har.entries { print(entry.request.method, entry.request.url, entry.response?.status ?? 0) }
/// ```
///
/// Reading is tolerant, because exporters differ: numbers may be text, timings and sizes may be missing, and unknown
/// members are ignored, except those of an entry whose names begin with `_`. A member of a wrong type is an error. Writing
/// is strict: every member that the format requires is written. Facts that the format cannot express, such as a failure or
/// a binary request body, are in members of this library that begin with `_errand`. A pure value; any thread.
public struct HAR: Sendable, Hashable {
    /// The program that wrote the traffic.
    public struct Creator: Sendable, Hashable {
        /// The program's name.
        public var name: String
        /// The program's version.
        public var version: String

        /// Makes a creator.
        public init(name: String, version: String) {
            self.name = name
            self.version = version
        }

        /// This library.
        public static let errand = Creator(name: "errand", version: "0.1")
    }

    /// The program that wrote the traffic. Default: this library.
    public var creator: Creator
    /// A remark about the whole file. Default: none.
    public var comment: String?
    /// The exchanges.
    public var entries: [Entry]

    /// Makes a value; the default has no entries.
    public init(entries: [Entry] = [], creator: Creator = .errand, comment: String? = nil) {
        self.entries = entries
        self.creator = creator
        self.comment = comment
    }

    /// The same with the entries in the order in which they started, as the format asks for.
    public var sorted: HAR {
        var sorted = self
        // The sort is stable: entries of the same moment keep their order.
        sorted.entries = entries.enumerated().sorted { one, other in
            (one.element.started, one.offset) < (other.element.started, other.offset)
        }.map(\.element)
        return sorted
    }
}

extension HAR {
    /// The largest file that is read, in bytes: 1 GiB.
    public static let largestFile = 1 << 30

    /// Reads a file. Throws ``ErrandError/fileUnreadable`` if the file is missing, cannot be read, or is not a HAR;
    /// the message says what is wrong. Blocks while it reads.
    public init(contentsOf path: String) throws(ErrandError) {
        guard let har = try Self.read(path) else { throw .file(.fileUnreadable, path, "does not exist") }
        self = har
    }

    /// The same; `nil` if there is no such file. A file of more than `limit` bytes is not read. `requiresResponses`: see
    /// ``init(parsing:requiresResponses:)``.
    package static func read(
        _ path: String, atMost limit: Int = largestFile, requiresResponses: Bool = false
    ) throws(ErrandError) -> HAR? {
        try WholeFile.check(path, of: "the HAR file")
        guard let bytes = try WholeFile.bytes(of: path, atMost: limit) else { return nil }
        do throws(ErrandError) {
            return try HAR(parsing: bytes, requiresResponses: requiresResponses)
        } catch {
            throw .file(.fileUnreadable, path, "cannot be read: \(error.message)")
        }
    }

    /// Writes the file, with mode 0600 because traffic is private. The text goes to a new file beside `path`, which is
    /// synced and then renamed, so `path` always names a whole file. Blocks while it writes.
    ///
    /// Throws `diskFull`, `directoryMissing`, `fileAccessDenied`, `fileIsDirectory` or ``ErrandError/fileUnwritable``;
    /// the former file is then unchanged. Throws ``ErrandError/invalidOption`` for a path that is empty or contains a
    /// NUL.
    ///
    /// - Parameters:
    ///   - path: The file.
    ///   - isPretty: Whether each member has its own line, which suits people and version control. Default: yes.
    public func write(to path: String, isPretty: Bool = true) throws(ErrandError) {
        try WholeFile.check(path, of: "the HAR file")
        try WholeFile.write(Array(text(isPretty: isPretty).utf8), to: path)
    }
}
