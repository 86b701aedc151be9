import Errand
import ErrandTesting

/// What a part of a walk throws on purpose.
struct ClientWalkTrouble: Error {}

/// An interceptor that does something different each time: it answers, throws, waits, gives up waiting, runs another
/// command, sends once or several times.
struct ClientWalkWhim: Interceptor {
    let dice: ClientWalkDice
    let clock: ManualClock

    func intercept(
        _ request: RequestDescription, in context: InterceptionContext, next: Next
    ) async throws -> Response {
        for _ in 0..<4 {
            var result: TransferResult?
            switch dice.below(16) {
            case 0: return Response(statusCode: 200, body: Array("own".utf8))
            case 1: throw ClientWalkTrouble()
            case 2: try await clock.sleep(for: .milliseconds(dice.below(900)))
            case 3: await Task.yield()
            case 4: result = await givingUp(request, next)
            case 5: _ = try? await context.run(ClientWalkAsk(path: "side"))
            default: result = await next.result(of: request)
            }
            // One result in four is not good enough, and the request is sent again.
            guard let result, !dice.isOneIn(4) else { continue }
            switch result {
            case .response(let response): return response
            case .failure(let error): throw error
            }
        }
        return try await next(request)
    }

    private func givingUp(_ request: RequestDescription, _ next: Next) async -> TransferResult {
        let call = Task { await next.result(of: request) }
        for _ in 0..<dice.below(10) { await Task.yield() }
        call.cancel()
        return await call.value
    }
}
