import Errand
import HTTPTypes

@testable import ErrandClient
@testable import ErrandModel

/// One run of a request through interceptors, as the request makes it but without one.
struct InterceptedRun {
    var interceptors: [any StepwiseInterceptor]
    var url = "http://a/x"
    var headers = HTTPFields()
    var connection: ConnectionOptions?
    /// The client's default.
    var clientConnection = ConnectionOptions(proxy: .url("http://proxy:3128"))
    var storage = InterceptionContext.Storage()
    /// Where the last hop goes, for runs that are redirected.
    var lastURL: String?

    private func context(_ replays: Int, lastURL: String?) -> InterceptionContext {
        let context = InterceptionContext(
            requestID: 1, command: GetRaw(), storage: storage, progress: InterceptionProgress(replays: replays),
            connection: clientConnection)
        context.lastURL = lastURL
        return context
    }

    func description() throws -> RequestDescription {
        var command = RawCommand(url: url, headers: headers)
        command.connection = connection
        return try RequestBuilder(Client.Configuration(connection: clientConnection)).description(of: command)
    }

    func prepare(_ replays: Int = 0) async throws -> RequestDescription {
        var request = try description()
        for interceptor in interceptors {
            request = try await interceptor.prepare(request, in: context(replays, lastURL: nil))
        }
        return request
    }

    func replays(after result: TransferResult, _ replays: Int = 0, sent: RequestDescription) async throws -> Bool {
        for interceptor in interceptors.reversed() {
            let context = context(replays, lastURL: lastURL ?? sent.url)
            if try await interceptor.replays(after: result, in: context) { return true }
        }
        return false
    }

    /// The whole run: the last result, and how often it was sent again.
    func run(
        _ send: (RequestDescription) async throws -> TransferResult
    ) async throws -> (result: TransferResult, replays: Int) {
        var replays = 0
        while true {
            let sent = try await prepare(replays)
            let result = try await send(sent)
            guard replays < InterceptionContext.replayLimit,
                try await self.replays(after: result, replays, sent: sent)
            else { return (result, replays) }
            replays += 1
        }
    }

    /// The same; the last status.
    func status(_ send: (RequestDescription) async throws -> Response) async throws -> Int {
        guard case .response(let response) = try await run({ .response(try await send($0)) }).result else { return 0 }
        return response.statusCode
    }
}
