import Errand
public import HTTPTypes
import Synchronization

/// The requests that a ``StubRouter`` has received. Its expectations report the requests that came instead. Any thread.
///
/// The expectations throw. Therefore they work in every test framework: a test that throws fails, and prints the error.
public final class CallHistory: Sendable {
    /// One request.
    public struct Call: Sendable, CustomStringConvertible {
        /// The number of the call, from 1.
        public let number: Int
        /// The request.
        public fileprivate(set) var request: StubRequest
        /// The route that answered, as `GET /users/{id}`; `nil`: none.
        public let route: String?

        /// `GET /users/1?a=b`, without the secrets of ``/Errand/Redaction/standard``, because tests print it.
        public var description: String { "\(request.method.rawValue) \(Redaction.standard.url(target))" }

        /// The same with its secrets, for comparisons.
        var line: String { "\(request.method.rawValue) \(target)" }

        private var target: String {
            let url = URLReference(request.url)
            let query = url.query.map { "?\($0)" } ?? ""
            return "\(url.path.isEmpty ? "/" : url.path)\(query)"
        }

        /// The line of the call in a list: its number, its description and remarks.
        fileprivate var listed: String {
            var text = "\(number). \(description)"
            if route == nil { text += ", without a route" }
            if request.isBodyDropped { text += ", whose body is not kept any more" }
            return text
        }
    }

    private struct State {
        var calls: [Call] = []
        var count = 0
        /// The size of all bodies of `calls`, and the number of calls, from the first one on, whose bodies were dropped.
        var bytes = 0
        var dropped = 0

        mutating func add(_ call: Call, limit: Int, bodyLimit: Int) {
            calls.append(call)
            bytes += call.request.body.count
            while bytes > bodyLimit, dropped < calls.count {
                bytes -= calls[dropped].request.body.count
                calls[dropped].request.dropBody()
                dropped += 1
            }
            let surplus = calls.count - limit
            guard surplus > 0 else { return }
            bytes -= calls[..<surplus].reduce(0) { $0 + $1.request.body.count }
            calls.removeFirst(surplus)
            dropped = max(0, dropped - surplus)
        }
    }

    private let state = Mutex(State())
    private let limit: Int
    private let bodyLimit: Int

    /// `bodyLimit`: the most bytes of all bodies together.
    init(limit: Int, bodyLimit: Int) {
        self.limit = max(1, limit)
        self.bodyLimit = max(0, bodyLimit)
    }

    /// The latest calls in order, at most as many as the router's limit. If the bodies are too large together, only the
    /// last ones are kept: see ``StubRequest/isBodyDropped``.
    public var calls: [Call] { state.withLock { $0.calls } }

    /// The calls that no route answered.
    public var unexpected: [Call] { calls.filter { $0.route == nil } }

    /// The calls with that method and path.
    ///
    /// - Parameters:
    ///   - method: `nil`: any.
    ///   - path: A path or a pattern as in ``StubRouter/on(_:_:_:)``.
    public func calls(_ method: HTTPRequest.Method?, _ path: String) -> [Call] {
        let pattern = PathPattern(path)
        return calls.filter { call in
            (method == nil || call.request.method == method) && pattern.parameters(of: call.request.url) != nil
        }
    }

    /// Forgets all calls.
    public func clear() {
        state.withLock { $0 = State() }
    }

    func add(_ request: StubRequest, route: String?) {
        state.withLock { state in
            state.count += 1
            state.add(
                Call(number: state.count, request: request, route: route), limit: limit, bodyLimit: bodyLimit)
        }
    }

    /// Checks how often a request came. Returns the calls.
    ///
    /// ```swift
    /// try router.history.expect(.get, "/users/1")
    /// try router.history.expect(.post, "/users", times: 2) { $0.request.text.contains("Ada") }
    /// ```
    ///
    /// - Parameters:
    ///   - method: `nil`: any.
    ///   - path: A path or a pattern.
    ///   - times: How often. Default: once.
    ///   - file: The file of the expectation.
    ///   - line: The line of the expectation.
    ///   - isExpected: Which of these calls count. Default: all.
    /// - Throws: A ``CallMismatch`` that lists what came.
    @discardableResult
    public func expect(
        _ method: HTTPRequest.Method?, _ path: String, times: Int = 1, file: StaticString = #fileID,
        line: UInt = #line, where isExpected: (Call) -> Bool = { _ in true }
    ) throws(CallMismatch) -> [Call] {
        let found = calls(method, path).filter(isExpected)
        guard found.count == times else {
            throw mismatch(
                "\(name(method, path)) was expected \(Self.times(times)), and came \(Self.times(found.count))", file,
                line)
        }
        return found
    }

    /// Checks that these calls came, in this order, and no others: `["GET /users/1", "POST /users"]`.
    ///
    /// - Parameters:
    ///   - expected: The methods and paths, with the queries.
    ///   - file: The file of the expectation.
    ///   - line: The line of the expectation.
    /// - Throws: A ``CallMismatch`` that lists what came.
    public func expect(
        only expected: [String], file: StaticString = #fileID, line: UInt = #line
    ) throws(CallMismatch) {
        guard calls.map(\.line) != expected else { return }
        let list = expected.isEmpty ? "no call" : expected.map(Self.shown).joined(separator: ", ")
        throw mismatch("\(list) was expected, and nothing else", file, line)
    }

    /// Checks that each call had a route.
    ///
    /// - Parameters:
    ///   - file: The file of the expectation.
    ///   - line: The line of the expectation.
    /// - Throws: A ``CallMismatch`` that lists what came.
    public func expectRoutes(file: StaticString = #fileID, line: UInt = #line) throws(CallMismatch) {
        let lost = unexpected
        guard let first = lost.first else { return }
        throw mismatch("a route was expected for each call, and \(first) had none", file, line)
    }

    /// `GET /users?token=REDACTED`.
    private static func shown(_ line: String) -> String {
        guard let blank = line.firstIndex(of: " ") else { return line }
        return line[...blank] + Redaction.standard.url(String(line[blank...].dropFirst()))
    }

    private func name(_ method: HTTPRequest.Method?, _ path: String) -> String {
        "\(method?.rawValue ?? "any method") \(path)"
    }

    private static func times(_ count: Int) -> String {
        switch count {
        case 0: "not at all"
        case 1: "once"
        default: "\(count) times"
        }
    }

    private func mismatch(_ problem: String, _ file: StaticString, _ line: UInt) -> CallMismatch {
        let all = calls
        return CallMismatch(
            problem: problem, calls: all.map(\.listed), place: "\(file):\(line)")
    }
}

/// The calls differ from those that a test expects. The text lists the calls.
public struct CallMismatch: Error, Sendable, CustomStringConvertible {
    /// What was expected, and what came.
    public let problem: String
    /// The calls, one line each.
    public let calls: [String]
    /// The file and the line of the expectation.
    public let place: String

    /// A readable text of several lines.
    public var description: String {
        let shown = calls.suffix(50)
        let list = calls.isEmpty ? "\nThere was no call." : "\nThe calls were:\n  " + shown.joined(separator: "\n  ")
        return "\(place): \(problem)." + list
    }
}
