public import Errand
import Synchronization

/// Recorded HTTP traffic that answers the requests of a test: a HAR file, which browsers and other tools open too.
///
/// ```swift
/// let users = try await Cassette.use("Cassettes/users.har", configuration: .init(baseURL: "https://api.example.com/")) {
///     client in
///     try await client.run(ListUsers())
/// }
/// ```
///
/// The first run sends the requests and writes the file. Later runs, and all runs in continuous integration, replay the
/// file. Each recorded exchange answers once, in order. A request that is not recorded fails with
/// ``/Errand/ErrandError/unexpectedRequest``. Statuses, fields, bodies, trailers, streamed pieces, failures and
/// timeouts are recorded. Secrets are hidden before anything is written. Requests are compared in that form, including
/// the requests of the file.
///
/// ``CassetteTransport`` puts a cassette beneath a client. Any thread.
public final class Cassette: Sendable {
    /// The path of the file.
    public let path: String
    /// When the cassette records. In continuous integration ``Mode/none``, unless `ERRAND_CASSETTE` names a mode that
    /// records. Everywhere ``Mode/none`` if `ERRAND_CASSETTE` is `none`, or not a mode.
    public let mode: Mode
    /// Which parts of a request count.
    public let matching: RequestMatching
    /// The secrets that are hidden. In bodies, the names `key` and `sign` do not mark a secret.
    public let redaction: Redaction
    /// Whether the last of several equal recorded requests answers all further ones.
    public let allowsRepeats: Bool
    /// The most bytes of a body that are recorded and compared.
    public let bodyLimit: Int
    /// The most bytes of the file.
    public let fileLimit: Int

    /// Compares a request with a recorded one that the rules find equal. Both have their secrets hidden. Returns the
    /// differences, for the message of a mismatch; empty: the recorded exchange answers the request. Called on the
    /// thread that sends the request, without a lock.
    public typealias Comparison = @Sendable (_ recorded: HAR.Sent, _ sent: HAR.Sent) -> [RequestDifference]

    struct State {
        /// The exchanges that were read from the file.
        var file: RecordedRequests
        var recorded: [HAR.Entry] = []
        /// The number of recorded exchanges that are saved.
        var saved = 0
        /// The approximate size of the recorded exchanges, in bytes.
        var weight = 0
        /// The number of exchanges that are missing because the recording became too large.
        var dropped = 0
        var mismatches: [CassetteMismatch] = []
    }

    let comparison: Comparison?
    let beforeRecording: (@Sendable (inout HAR.Entry) -> Void)?
    let state: Mutex<State>
    /// Whether this cassette is the one that records the file.
    private let isRecording = Mutex(false)
    /// The path of the file with symbolic links resolved.
    private let recordingPath: String

    /// Reads the file, unless the mode is ``Mode/all``. A file that does not exist is an empty cassette. Blocks while it
    /// reads.
    ///
    /// - Parameters:
    ///   - path: The file. A relative path begins at the folder of `source`.
    ///   - source: The source file of the test. Default: the file that calls.
    ///   - mode: Default: that of the environment, ``Mode/standard``. In continuous integration nothing is recorded in any
    ///     mode, unless `ERRAND_CASSETTE` names a mode that records. If it is `none`, or not a mode, nothing is recorded
    ///     anywhere.
    ///   - matching: Which parts of a request count. Default: method, URL and body.
    ///   - redaction: The secrets to hide. Default: ``/Errand/Redaction/standard``.
    ///   - allowsRepeats: Whether the last of several equal recorded requests answers all further ones. Default: no.
    ///   - bodyLimit: The most bytes of a body that are recorded and compared. A response whose body was cut ends with
    ///     ``/Errand/ErrandError/partialBody`` when it is replayed. Default: 16 MiB.
    ///   - fileLimit: The most bytes of the file. A larger file is not read, and a larger recording is not written. Default:
    ///     256 MiB.
    ///   - beforeRecording: Changes each exchange after secrets are hidden and before it is kept, to hide secrets that
    ///     only the service knows. If it changes a request, the changed request must match the requests that are sent
    ///     later. Default: nothing.
    ///   - comparison: Compares parts that the rules do not compare, such as one member of a body. Default: nothing.
    /// - Throws: ``/Errand/ErrandError/fileUnreadable`` if the file cannot be read, is too large, or is not a HAR; the
    ///   message names the damaged entry. `fileLocked` if another cassette of this process records the file and has not
    ///   saved it.
    public init(
        _ path: String, beside source: String = #filePath, mode: Mode = .standard,
        matching: RequestMatching = RequestMatching(), redaction: Redaction = .standard, allowsRepeats: Bool = false,
        bodyLimit: Int = 16 << 20, fileLimit: Int = 256 << 20,
        beforeRecording: (@Sendable (inout HAR.Entry) -> Void)? = nil, comparison: Comparison? = nil
    ) throws(ErrandError) {
        let folder = source.lastIndex(of: "/").map { String(source[...$0]) } ?? ""
        let path = path.hasPrefix("/") || path.isEmpty ? path : folder + path
        let mode = mode.capped(by: Mode.value(of:))
        self.path = path
        self.mode = mode
        self.matching = matching
        self.redaction = redaction
        self.allowsRepeats = allowsRepeats
        self.bodyLimit = max(0, bodyLimit)
        self.fileLimit = max(0, fileLimit)
        self.comparison = comparison
        self.beforeRecording = beforeRecording
        var bodyRedaction = redaction
        bodyRedaction.parameters.subtract(["key", "sign"])
        self.bodyRedaction = bodyRedaction
        let read =
            try mode == .all ? [] : HAR.read(path, atMost: self.fileLimit, requiresResponses: true)?.entries ?? []
        let entries = Self.compared(read, limit: self.bodyLimit, redaction, bodyRedaction)
        pseudonyms = Pseudonyms(generation: entries.count)
        state = Mutex(State(file: RecordedRequests(entries, by: matching)))
        recordsAll = mode == .all || mode == .once && entries.isEmpty
        recordingPath = CassetteRecordings.path(of: path)
        guard recordsAll || mode == .new else { return }
        try beginRecording()
    }

    deinit {
        endRecording()
    }

    /// Claims the file: no other cassette may record it from now on. No effect if this cassette has claimed it already.
    func beginRecording() throws(ErrandError) {
        guard !isRecording.withLock({ $0 }) else { return }
        guard CassetteRecordings.begin(recordingPath) else {
            throw .file(
                .fileLocked, path,
                "is being recorded by another cassette of this process; give each test a file of its own")
        }
        isRecording.withLock { $0 = true }
    }

    /// Another cassette may record the file from now on.
    func endRecording() {
        let wasRecording = isRecording.withLock { isRecording in
            defer { isRecording = false }
            return isRecording
        }
        if wasRecording { CassetteRecordings.end(recordingPath) }
    }

    /// Whether every request is sent and recorded.
    let recordsAll: Bool
    /// The secrets that are hidden in bodies, without `key` and `sign`, which usually mean something else there.
    let bodyRedaction: Redaction
    /// The pseudonyms for the secrets of the responses.
    let pseudonyms: Pseudonyms

    /// Whether any request may be sent.
    var mayRecord: Bool { recordsAll || mode == .new }

    /// The recorded exchanges: those of the file, then those of this run.
    public var entries: [HAR.Entry] { state.withLock { $0.file.entries + $0.recorded } }

    /// The exchanges of this run that were sent and recorded, in the order in which they ended.
    public var recorded: [HAR.Entry] { state.withLock { $0.recorded } }

    /// The exchanges of the file that no request has used: those that the test no longer sends.
    public var unused: [HAR.Entry] { state.withLock { $0.file.unused } }

    /// The requests for which no matching exchange was left, and those that were answered before their body turned out
    /// to differ, in order, at most 1000. A program may catch the error of a request, so a test should check this
    /// property.
    public var mismatches: [CassetteMismatch] { state.withLock { $0.mismatches } }

    /// How often this run has hidden values in JSON bodies of responses, by the names of their members. A program that reads
    /// such a value gets a placeholder when the cassette is replayed.
    public var hiddenNames: [String: Int] { pseudonyms.counts }
}
