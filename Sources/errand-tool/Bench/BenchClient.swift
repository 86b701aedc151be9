import Errand
import ErrandSQLite
import Foundation
import HTTPTypes

/// Makes the client for the Swift modes. The load limits the requests in flight, so the client's own limits must not.
/// Settings that all requests share are set on the client, as in a service.
enum BenchClient {
    static func make(_ plan: BenchPlan, callbacks: CallbackQueue? = nil) -> Client {
        var configuration = Client.Configuration()
        configuration.baseURL = plan.baseURL
        configuration.callbackQueue = callbacks
        configuration.headers = plan.headers
        configuration.userAgent = nil
        configuration.loops = plan.loops == 0 ? nil : plan.loops
        configuration.queueCapacity = max(65_536, plan.connections)
        // Hedges get their own places: a hedge that waited for a place would be sent only after one of the attempts has
        // ended. An origin limit above 256 also makes a second loop take requests of that origin.
        let places = plan.connections * (1 + (plan.resilience?.hedge?.maxExtra ?? 0))
        configuration.inFlightLimit = places
        configuration.originInFlightLimit = places
        configuration.maxConcurrentStreams = plan.streams
        configuration.connection = plan.connection
        configuration.timeouts = Timeouts(connect: .after(plan.timeout), idle: .after(plan.timeout))
        configuration.limits = Limits(bodyBytes: plan.bodyLimit, decodedBytes: plan.bodyLimit)
        configuration.redirects = .doNotFollow
        configuration.resilience = plan.resilience
        if plan.cache == .sqlite { configuration.cache = ResponseCache(BenchStore.make()) }
        return Client(configuration: configuration)
    }

    /// The number of loops; the engine's default if the plan has none.
    static func loops(_ plan: BenchPlan) -> Int {
        plan.loops == 0 ? min(4, ProcessInfo.processInfo.activeProcessorCount) : plan.loops
    }
}

extension BenchLoad.Outcome {
    init(_ response: Response) {
        // The size of the body is not used, because the body was dropped.
        self.init(status: response.statusCode, bytes: response.bytesReceived)
    }

    init(_ error: any Error) {
        let failure = (error as? ErrandError).map { ToolError($0) } ?? ToolError(.internalFailure, "\(error)")
        let isRefused = error as? ErrandError == .queueFull
        self.init(error: BenchLoad.ErrorNote(failure, wait: isRefused ? .toTheRunsEnd : .none))
    }

    init<C: Command>(_ request: Request<C>) where C.Response == Response {
        if let response = request.response, request.error == nil {
            self.init(response)
        } else {
            self.init(request.error ?? .cancelled)
        }
    }
}

/// A store in its own file, which is removed when the process ends.
enum BenchStore {
    static func make() -> SQLiteCacheStore {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("errand-bench-\(getpid())")
        path = folder.path
        atexit { if let path = BenchStore.path { try? FileManager.default.removeItem(atPath: path) } }
        return SQLiteCacheStore(path: folder.appendingPathComponent("cache.sqlite").path)
    }

    // The path is written once, before the run begins, and is read when the process ends.
    private nonisolated(unsafe) static var path: String?
}

/// The command of the Swift modes, which is no larger than the commands of a service.
struct BenchCommand: Command {
    let method: HTTPRequest.Method
    let path: String
    let body: RequestBody
    let cache: CachePolicy?

    /// Without a cache, the body is counted and dropped, so that an endless body takes no memory. A cache needs the
    /// body.
    var options: CommandOptions { cache == nil ? .discardsBody : [] }

    /// Every status is counted, and none is an error.
    var acceptedStatusCodes: StatusCodes { .any }
}
