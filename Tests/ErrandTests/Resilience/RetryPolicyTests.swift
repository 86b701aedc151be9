import Errand
import HTTPTypes
import Testing

@testable import ErrandResilience

@Suite struct RetryPolicyTests {
    @Test func defaults() {
        let policy = RetryPolicy()
        #expect(policy.maxAttempts == 3)
        #expect(policy.statusCodes == [408, 429, 502, 503, 504])
        #expect(policy.failures == [.noConnection, .brokenConnection, .timeout])
        #expect(policy.retryAfterCap == .seconds(60))
        #expect(policy.attemptTimeout == nil)
        #expect(RetryPolicy.never.maxAttempts == 1)
    }

    @Test func numbersOutOfRangeAreClamped() {
        #expect(RetryPolicy(maxAttempts: 0).maxAttempts == 1)
        #expect(RetryPolicy(maxAttempts: .min).maxAttempts == 1)
        #expect(RetryPolicy(maxAttempts: .max).maxAttempts == 100)
        #expect(RetryPolicy(retryAfterCap: .seconds(-1)).retryAfterCap == .zero)
        #expect(RetryPolicy(retryAfterCap: .seconds(Int64.max)).retryAfterCap == .longestSleep)
        #expect(RetryPolicy(attemptTimeout: .zero).attemptTimeout == .milliseconds(1))
    }

    @Test(
        arguments: [
            (.get, true), (.head, true), (.options, true), (.trace, true), (.put, true), (.delete, true),
            (.post, false), (.patch, false), (.connect, false),
        ] as [(HTTPRequest.Method, Bool)])
    func rfc9110_9_2_2(method: HTTPRequest.Method, isIdempotent: Bool) {
        #expect(RetryMethods.idempotent.contains(method) == isIdempotent)
        #expect(RetryMethods.any.contains(method))
        #expect(RetryMethods.only([.post]).contains(method) == (method == .post))
    }

    /// Whether a second request may be sent while the first one is under way.
    @Test(
        arguments: [
            (.get, true), (.head, true), (.options, true), (.trace, true), (.put, false), (.delete, false),
            (.post, false), (.patch, false), (.connect, false),
        ] as [(HTTPRequest.Method, Bool)])
    func rfc9110_9_2_1(method: HTTPRequest.Method, isSafe: Bool) throws {
        #expect(RetryMethods.idempotent.mayOverlap(method) == isSafe)
        #expect(RetryMethods.any.mayOverlap(method))
        #expect(RetryMethods.only([.post]).mayOverlap(method) == (method == .post))
        // A server answers 409 to a key of a request that is under way.
        var description = try ResilientFixture.description(method)
        #expect(RetrySubject.mayOverlap(description, RetryPolicy()) == isSafe)
        #expect(RetrySubject.mayOverlap(description, RetryPolicy(methods: .any)))
        try description.headers.set(HTTPField.Name("Idempotency-Key"), to: "a")
        #expect(RetrySubject.mayOverlap(description, RetryPolicy(methods: .any)) == (method == .get))
    }

    @Test func methodsAreCaseSensitive() throws {
        let lower = try #require(HTTPRequest.Method("get"))
        #expect(!RetryMethods.idempotent.contains(lower))
    }

    @Test func aPostIsRepeatableByItsKeyOrItsOption() {
        func isRepeatable(
            _ fields: HTTPFields = [:], _ options: CommandOptions = [], _ policy: RetryPolicy = RetryPolicy()
        ) -> Bool {
            RetrySubject(method: .post, fields: fields, options: options, policy: policy).isRepeatable
        }
        let key = HTTPField.Name("idempotency-key")
        #expect(!isRepeatable())
        #expect(isRepeatable([key: "\"8e03978e\""]))
        #expect(!isRepeatable([key: ""]))
        #expect(!isRepeatable([key: "  "]))
        #expect(isRepeatable([:], .allowReplay))
        #expect(!isRepeatable([:], .coalesced))
        #expect(isRepeatable([:], [], RetryPolicy(methods: .any)))
    }

    @Test(
        arguments: [
            (.resolveFailed, .noConnection), (.connectFailed, .noConnection), (.timeoutConnect, .noConnection),
            (.tlsFailed, .noConnection), (.connectionLost, .brokenConnection), (.partialBody, .brokenConnection),
            (.protocolError, .brokenConnection), (.timeoutFirstByte, .timeout), (.timeoutIdle, .timeout),
            (.timeoutTotal, .timeout), (.malformedResponse, .malformedResponse), (.timeoutQueue, nil),
            (.queueFull, nil), (.cancelled, nil), (.tlsUntrusted, nil), (.statusNotAccepted, nil), (.shutDown, nil),
            (.addressRefused, nil), (.limitBodyBytes, nil), (.deadlineExceeded, nil),
        ] as [(ErrandError, ErrandError.TransientFailure?)])
    func transientFailures(error: ErrandError, kind: ErrandError.TransientFailure?) {
        #expect(error.transientFailure == kind)
        #expect(error.isTransient == (kind != nil))
    }

    @Test func labelsAreShort() {
        #expect(RetryCause.status(503).label == "status503")
        #expect(RetryCause.failure(.noConnection).label == "noConnection")
        #expect(Set(RetryStop.allCases.map(\.rawValue)).count == RetryStop.allCases.count)
    }
}
