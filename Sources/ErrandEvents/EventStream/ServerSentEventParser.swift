/// Turns bytes into events by the algorithm of WHATWG HTML 9.2.6. No I/O: push chunks, cut anywhere, and take events.
///
/// ```swift
/// var parser = ServerSentEventParser()
/// parser.push(chunk)
/// while let event = try parser.next() { ... }
/// ```
///
/// An event that the stream's end cuts off is never given, as the algorithm has it.
public struct ServerSentEventParser: Sendable {
    /// The last event ID that was dispatched with a blank line, with an event or without; empty for none.
    public private(set) var lastEventID: String
    /// What the stream's last `retry` said; `nil` for none so far.
    public private(set) var reconnectionTime: Duration?

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

    /// The fields of the event that is being read.
    private struct Pending {
        var event: [UInt8] = []
        /// Each `data` line with a LF after it.
        var data: [UInt8] = []
        /// Not committed before the blank line.
        var id: String?
        var retry: Duration?
    }

    /// Makes a parser. `lastEventID` is the one that the connection was opened with. A line, or the data of an event, of
    /// more than `maximumEventBytes` (4 MiB by default) ends the stream with ``ErrandError/limitBodyBytes``.
    public init(lastEventID: String = "", maximumEventBytes: Int = 4 << 20) {
        self.lastEventID = lastEventID
        self.maximumEventBytes = maximumEventBytes
        self.splitter = LineSplitter(maximumLength: maximumEventBytes)
    }

    /// Takes the next chunk, after ``next()`` has returned `nil` for the one before it.
    public mutating func push(_ bytes: [UInt8]) {
        splitter.push(bytes)
    }

    /// The next event; `nil` where more bytes are needed. Once it has thrown it always does.
    public mutating func next() throws(ErrandError) -> ServerSentEvent? {
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
        .limitBodyBytes.with(message: "an event has more than \(maximumEventBytes) bytes")
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
        // A comment's name is empty, and with every unknown one it is passed over.
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

    /// Digits only; more of them than fit are the longest time there is.
    private static func milliseconds(_ digits: ArraySlice<UInt8>) -> Duration? {
        guard !digits.isEmpty, digits.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return .milliseconds(Int64(String(decoding: digits, as: UTF8.self)) ?? .max)
    }
}
