/// Parses bytes into events by the algorithm of WHATWG HTML 9.2.6. The parser does no I/O: push chunks, cut anywhere,
/// and take events.
///
/// ```swift
/// var parser = ServerSentEventParser()
/// parser.push(chunk)
/// while let event = try parser.next() { ... }
/// ```
///
/// As the algorithm requires, an event that is cut off by the end of the stream is never returned.
package struct ServerSentEventParser: Sendable {
    /// The last event ID that a blank line dispatched, with or without an event; empty for none.
    package private(set) var lastEventID: String
    /// The time of the stream's last `retry`; `nil` for none so far.
    package private(set) var reconnectionTime: Duration?

    private let maximumEventBytes: Int
    private var splitter: LineSplitter
    private var state = State.atStart
    private var pending = Pending()

    private enum State {
        /// Before the first line, which may begin with a byte order mark.
        case atStart
        case reading
        case failed
    }

    /// The fields of the event that is being parsed.
    private struct Pending {
        var event: [UInt8] = []
        /// Each `data` line, followed by LF.
        var data: [UInt8] = []
        /// Takes effect only with the blank line.
        var id: String?
        var retry: Duration?
    }

    /// Makes a parser. `lastEventID` is the ID with which the connection was opened. A line or an event's data of more
    /// than `maximumEventBytes` (4 MiB by default) ends the stream with ``ErrandError/limitBodyBytes``.
    package init(lastEventID: String = "", maximumEventBytes: Int = 4 << 20) {
        self.lastEventID = lastEventID
        self.maximumEventBytes = maximumEventBytes
        self.splitter = LineSplitter(maximumLength: maximumEventBytes)
    }

    /// Takes the next chunk. Call it after ``next()`` has returned `nil` for the previous chunk.
    package mutating func push(_ bytes: [UInt8]) {
        splitter.push(bytes)
    }

    /// The next event; `nil` if more bytes are needed. After an error every further call throws, too.
    package mutating func next() throws(ErrandError) -> ServerSentEvent? {
        guard state != .failed else { throw tooLong() }
        do throws(LineSplitter.TooLong) {
            while let line = try splitter.next() {
                var line = line[...]
                if state == .atStart, line.starts(with: [0xEF, 0xBB, 0xBF]) { line = line.dropFirst(3) }
                state = .reading
                if line.isEmpty {
                    if let event = dispatch() { return event }
                } else {
                    try process(line)
                }
            }
            return nil
        } catch {
            state = .failed
            pending = Pending()
            throw tooLong()
        }
    }

    private func tooLong() -> ErrandError {
        .limitBodyBytes.with(message: "the event is longer than \(maximumEventBytes) bytes")
    }

    private mutating func dispatch() -> ServerSentEvent? {
        let done = pending
        pending = Pending()
        if let id = done.id { lastEventID = id }
        guard !done.data.isEmpty else { return nil }
        return ServerSentEvent(
            event: done.event.isEmpty ? "message" : String(decoding: done.event, as: UTF8.self),
            data: String(decoding: done.data.dropLast(), as: UTF8.self), id: lastEventID, retry: done.retry)
    }

    private mutating func process(_ line: ArraySlice<UInt8>) throws(LineSplitter.TooLong) {
        let colon = line.firstIndex(of: UInt8(ascii: ":")) ?? line.endIndex
        var value = line[colon...].dropFirst()
        if value.first == 0x20 { value = value.dropFirst() }
        // A comment has an empty name and is ignored, like every unknown name.
        switch line[..<colon] {
        case let name where name.elementsEqual("data".utf8):
            guard pending.data.count + value.count < maximumEventBytes else { throw LineSplitter.TooLong() }
            pending.data.append(contentsOf: value)
            pending.data.append(0x0A)
        case let name where name.elementsEqual("event".utf8):
            pending.event = Array(value)
        case let name where name.elementsEqual("id".utf8):
            if !value.contains(0) { pending.id = String(decoding: value, as: UTF8.self) }
        case let name where name.elementsEqual("retry".utf8):
            guard let time = Self.milliseconds(value) else { break }
            pending.retry = time
            reconnectionTime = time
        default:
            break
        }
    }

    /// Digits only; a number that does not fit becomes the longest time.
    private static func milliseconds(_ digits: ArraySlice<UInt8>) -> Duration? {
        guard !digits.isEmpty, digits.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return .milliseconds(Int64(String(decoding: digits, as: UTF8.self)) ?? .max)
    }
}
