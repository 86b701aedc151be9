import Errand
import ErrandTesting
import HTTPTypes

/// What the storm runs; with hooks or without.
struct StormCommand: Command {
    var path: String
    var method = HTTPRequest.Method.get
    var body = RequestBody.empty
    /// Nothing here is silent for so long, unless a wake-up was lost.
    var timeouts: Timeouts? = Timeouts(connect: .seconds(240), idle: .seconds(60))
    var authorization: Authorization?
    var interceptors: [any Interceptor] = []
    var validator: (@Sendable ([UInt8], Errand.Response) async throws -> Void)?
    var successPreprocessor: (@Sendable ([UInt8], Errand.Response) async -> Void)?
    var failurePreprocessor: (@Sendable (ErrandError) async -> Void)?
    var successFilter: (@Sendable (Request<StormCommand>) -> Void)?
    var failureFilter: (@Sendable (Request<StormCommand>) -> Void)?
    typealias Response = [UInt8]

    init(_ target: StormTarget, _ addresses: StormServers.Addresses, _ random: inout StormRandom) {
        path = target.path(addresses, &random)
        switch target {
        case .dripping:
            timeouts = Timeouts(total: .milliseconds(5 + random.below(40)))
        case .challenged:
            interceptors = [StormTokenBearer()]
        case .digest:
            authorization = .digest(username: "ada", password: "secret")
        case .upload:
            method = .post
            body = .bytes([UInt8](repeating: 1, count: random.below(50_000)))
        case .streamedUpload:
            method = .post
            let chunks = random.below(8)
            body = .stream {
                AsyncStream { continuation in
                    for _ in 0..<chunks { continuation.yield([UInt8](repeating: 2, count: 5000)) }
                    continuation.finish()
                }
            }
        default:
            break
        }
        if random.oneIn(4) { interceptors.append(StormDelay(microseconds: random.below(1500))) }
        if random.oneIn(6) {
            let delay = StormDelay(microseconds: random.below(1500))
            validator = { _, _ in await delay.wait() }
        }
        if random.oneIn(6) {
            let delay = StormDelay(microseconds: random.below(500))
            successPreprocessor = { _, _ in await delay.wait() }
            failurePreprocessor = { _ in await delay.wait() }
        }
    }
}

/// Brings the token after it was asked for.
struct StormTokenBearer: StepwiseInterceptor {
    func prepare(
        _ request: RequestDescription, in context: InterceptionContext
    ) async throws -> RequestDescription {
        guard context.replays > 0 else { return request }
        var request = request
        var fields = request.headers.fields
        fields[.authorization] = "Bearer storm"
        request.headers = HeaderBlock(fields)
        return request
    }

    func replays(after result: TransferResult, in context: InterceptionContext) async throws -> Bool {
        guard case .response(let response) = result else { return false }
        return response.statusCode == 401
    }

    func transform(_ response: Errand.Response, in context: InterceptionContext) -> Errand.Response { response }
}

/// Takes its time on the way out and on the way back.
struct StormDelay: StepwiseInterceptor {
    let microseconds: Int

    func wait() async {
        // Pause: a seeded part of the storm. A stop cancels the task, and the run goes on from here all the same.
        try? await Task.sleep(for: .microseconds(microseconds))
    }

    func prepare(
        _ request: RequestDescription, in context: InterceptionContext
    ) async throws -> RequestDescription {
        await wait()
        return request
    }

    func transform(_ response: Response, in context: InterceptionContext) async throws -> Response {
        await wait()
        return response
    }

    func replays(after result: TransferResult, in context: InterceptionContext) -> Bool { false }
}
