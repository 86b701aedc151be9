import Errand
import ErrandTesting
import HTTPTypes
import Synchronization
import Testing

@testable import ErrandClient
@testable import ErrandResilience

/// What callers read from an error about a repetition.
@Suite struct RetryAdviceTests {
    @Test(
        arguments: [
            (.connectFailed, RetryAdvice(reason: "noConnection", wait: nil, serverMayHaveActed: false)),
            (.connectionLost, RetryAdvice(reason: "brokenConnection", wait: nil, serverMayHaveActed: true)),
            (.timeoutTotal, RetryAdvice(reason: "timeout", wait: nil, serverMayHaveActed: true)),
            (.noEndpoint.refused, RetryAdvice(reason: "noEndpoint", wait: nil, serverMayHaveActed: false)),
            (.deadlineExceeded, nil), (.tlsUntrusted, nil), (.cancelled, nil), (.queueFull, nil),
            (.responseDecodingFailed, nil), (.statusNotAccepted, nil),
        ] as [(ErrandError, RetryAdvice?)])
    func kinds(error: ErrandError, advice: RetryAdvice?) {
        #expect(error.retryAdvice == advice)
    }

    @Test func statuses() {
        for status in 100...599 {
            let error = ErrandError.statusNotAccepted.with(response: Response(statusCode: status))
            let isTemporary = [408, 429, 500, 502, 503, 504].contains(status)
            let advice = RetryAdvice(reason: "status\(status)", wait: nil, serverMayHaveActed: true)
            #expect(error.retryAdvice == (isTemporary ? advice : nil))
        }
        let busy = Response(statusCode: 503, headers: [.retryAfter: "7"])
        #expect(ErrandError.statusNotAccepted.with(response: busy).retryAdvice?.wait == .seconds(7))
        // The status was accepted, and something else was wrong.
        #expect(ErrandError.shapeMismatch.with(response: busy).retryAdvice == nil)
    }

    @Test func refusals() async throws {
        let stub = StubTransport { _ in .response(status: 500) }
        let breaker = BreakerPolicy(window: .count(4), minimumCalls: 1, openTime: .seconds(5), jitter: 0)
        let client = Client.stubbed(stub) {
            $0.clock = ManualClock()
            $0.resilience = Resilience(breaker: breaker)
        }
        let failed = await #expect(throws: ErrandError.statusNotAccepted) { try await client.run(GetText()) }
        #expect(failed?.retryAdvice?.reason == "status500")
        let refused = await #expect(throws: ErrandError.circuitOpen) { try await client.run(GetText()) }
        let advice = RetryAdvice(reason: "circuitOpen", wait: .seconds(5), serverMayHaveActed: false)
        #expect(refused?.retryAdvice == advice && refused?.isTransient == false)
        await client.shutdown()
        let refusal = ErrandError(LimitRefusal(.rateExceeded, key: "a", retryAfter: .seconds(2)))
        let limited = RetryAdvice(reason: "limitExceeded", wait: .seconds(2), serverMayHaveActed: false)
        #expect(refusal.retryAdvice == limited)
        // An attempt before the refused one was sent.
        #expect(refusal.with(isRefusal: false).retryAdvice?.serverMayHaveActed == true)
    }

    private func advice(_ client: Client) async -> RetryAdvice? {
        let error = await #expect(throws: ErrandError.connectFailed) { try await client.run(GetRaw()) }
        #expect(error?.retryAdvice?.reason == "noConnection")
        await client.shutdown()
        return error?.retryAdvice
    }

    /// The server that redirects has seen the request.
    @Test func afterARedirect() async throws {
        let stub = StubTransport { sent in
            sent.url.hasSuffix("/raw")
                ? .response(status: 307, headers: [.location: "/next"]) : .failure(.connectFailed)
        }
        #expect(await advice(Client.stubbed(stub))?.serverMayHaveActed == true)
    }

    /// The server may have seen an attempt, of which nothing is known, but not one without a connection.
    @Test(
        arguments: [(.connectionLost, true), (.timeoutFirstByte, true), (.resolveFailed, false)]
            as [(ErrandError, Bool)])
    func afterARetry(first: ErrandError, mayHaveActed: Bool) async throws {
        for isHedged in [false, true] {
            let failures = Mutex([first])
            let stub = StubTransport { _ in .failure(failures.withLock { $0.popLast() } ?? .connectFailed) }
            let retry = RetryPolicy(maxAttempts: 2, backoff: RetryBackoff(base: .zero))
            let hedge = HedgePolicy(delay: .fixed(.seconds(300)), budget: .init(ratio: 1, floorPerSecond: 5))
            let client = Client.stubbed(stub) {
                $0.resilience = Resilience(retry: retry, budget: nil, hedge: isHedged ? hedge : nil)
            }
            #expect(await advice(client)?.serverMayHaveActed == mayHaveActed)
            #expect(stub.submitted.count == 2)
        }
    }

    /// A refusal after bytes of the body were sent is none of the whole request.
    @Test func afterABodyThatWasSentAgain() async throws {
        let answers = Mutex<[StubTransport.Answer]>([.refuse(.outOfDescriptors), .failure(.uploadNotReplayable)])
        let stub = StubTransport { _ in answers.withLock { $0.removeLast() } }
        let client = Client.stubbed(stub)
        let body = RequestBody.stream(length: 4) {
            AsyncStream<[UInt8]> { continuation in
                continuation.yield(Array("body".utf8))
                continuation.finish()
            }
        }
        let put = RawCommand(method: .put, url: "http://test/", body: body)
        let error = await #expect(throws: ErrandError.outOfDescriptors) { try await client.run(put) }
        #expect(error?.isRefusal == false && error?.retryAdvice?.serverMayHaveActed == true)
        await client.shutdown()
    }
}
