import Errand
import ErrandTesting
import HTTPTypes
import Synchronization

@testable import ErrandModel
@testable import ErrandResilience

/// The answers that the seed of a walk chooses, and the number of attempts that came.
final class ClientWalkServer: Sendable {
    private let dice: ClientWalkDice
    /// `nil`: the client does not authenticate itself.
    private let access: ClientWalkAccess?
    /// Whether no request fails, unless its token is refused.
    let isSound: Bool
    /// Whether it announces alternative services.
    private let hasAlternatives: Bool
    private let accepted = Atomic<Int>(0)
    private let exempted = Atomic<Int>(0)
    private let unreachedOnes = Atomic<Int>(0)

    private static let altSvc: HTTPField.Name = "Alt-Svc"

    init(_ dice: ClientWalkDice, _ access: ClientWalkAccess?, isSound: Bool, hasAlternatives: Bool) {
        self.hasAlternatives = hasAlternatives
        self.dice = dice
        self.access = access
        self.isSound = isSound
    }

    /// The attempts that were not refused.
    var attempts: Int { accepted.load(ordering: .relaxed) }
    /// Those among them that no part of the client's resilience applies to.
    var exemptAttempts: Int { exempted.load(ordering: .relaxed) }
    /// The attempts at alternatives that were not reached. Nothing was sent, so the origin gets the request for the first
    /// time.
    var unreached: Int { unreachedOnes.load(ordering: .relaxed) }

    /// The answer to a new attempt; about half of them stall until a later step.
    func answer(_ description: RequestDescription) -> StubTransport.Answer {
        let chosen = choice(description)
        if case .refuse = chosen { return chosen }
        accepted.add(1, ordering: .relaxed)
        if isAtAlternative(description), case .failure(let error) = chosen,
            error == .connectFailed || error == .addressRefused
        {
            unreachedOnes.add(1, ordering: .relaxed)
        }
        if description.isExempt { exempted.add(1, ordering: .relaxed) }
        return chosen
    }

    private func choice(_ description: RequestDescription) -> StubTransport.Answer {
        if isRefused(description) { return .response(status: 401) }
        if let answer = alternativeChoice(description) { return answer }
        let isConditional = description.headers[.ifNoneMatch] != nil
        return isSound ? soundChoice(isConditional) : anyChoice(isConditional)
    }

    /// An alternative service that cannot be used. `nil`: the attempt goes to the origin, or the alternative answers.
    private func alternativeChoice(_ description: RequestDescription) -> StubTransport.Answer? {
        guard !isSound, isAtAlternative(description) else { return nil }
        switch dice.below(8) {
        case 0: return .failure(.connectFailed)
        case 1: return .failure(.addressRefused)
        case 2: return .response(status: 421)
        case 3: return .refuse(.unsupportedFeature)
        default: return nil
        }
    }

    private func isAtAlternative(_ description: RequestDescription) -> Bool {
        description.settings.connection?.connectTo != nil
    }

    /// Whether the token of the request is not valid any more. Now and then the server revokes all tokens.
    private func isRefused(_ description: RequestDescription) -> Bool {
        guard let access else { return false }
        access.check(description)
        if dice.isOneIn(30) { access.tokens.revokeAll() }
        guard let token = ClientWalkTokens.token(of: description) else { return false }
        return access.tokens.isRevoked(token)
    }

    private func anyChoice(_ isConditional: Bool) -> StubTransport.Answer {
        switch dice.below(24) {
        case 0: return .response(status: 500)
        case 1: return .response(status: 503, headers: ["Retry-After": "1"])
        case 2: return .response(status: 503)
        case 3: return .response(status: 401)
        case 4: return .failure(.connectionLost)
        case 5: return .failure(.connectFailed)
        case 6: return .failure(.timeoutFirstByte)
        case 7: return .refuse(.queueFull)
        case 8: return .response(status: 307, headers: ["Location": "/hop"])
        case 9 where isConditional: return .response(status: 304, headers: ["ETag": "\"t\""])
        case 9..<13: return .response(success)
        default: return .hold
        }
    }

    /// Refuses a valid token at times.
    private func soundChoice(_ isConditional: Bool) -> StubTransport.Answer {
        switch dice.below(10) {
        case 0: return .response(status: 401)
        case 1: return .response(status: 307, headers: ["Location": "/hop"])
        case 2 where isConditional: return .response(status: 304, headers: ["ETag": "\"t\""])
        case 2..<5: return .response(success)
        default: return .hold
        }
    }

    /// The result of an attempt that has stalled.
    var result: TransferResult {
        if isSound { return .response(dice.isOneIn(8) ? Response(statusCode: 401) : success) }
        switch dice.below(10) {
        case 0: return .response(Response(statusCode: 500))
        case 1: return .response(Response(statusCode: 503, headers: ["Retry-After": "2"]))
        case 2: return .response(Response(statusCode: 401))
        case 3: return .failure(.connectionLost)
        case 4: return .failure(.timeoutFirstByte)
        case 5: return .failure(.timeoutTotal)
        default: return .response(success)
        }
    }

    /// The head of a streamed response that has stalled.
    var head: Response {
        guard case .response(let response) = result else { return Response(statusCode: 200) }
        return Response(statusCode: response.statusCode, headers: response.headers)
    }

    private var success: Response {
        let controls = [
            "max-age=1, stale-while-revalidate=2", "no-cache", "max-age=5, stale-if-error=9", "no-store",
        ]
        var headers: HTTPFields = ["Cache-Control": controls[dice.below(controls.count)], "ETag": "\"t\""]
        if hasAlternatives {
            // An alternative that failed is left out for longer than a walk takes, so each time it is another one.
            switch dice.below(6) {
            case 0: headers[Self.altSvc] = "http%2F1.1=\"alt.test:\(1000 + dice.below(5000))\"; ma=600"
            case 1: headers[.strictTransportSecurity] = "max-age=60"
            case 2: if dice.isOneIn(4) { headers[Self.altSvc] = "clear" }
            default: break
            }
        }
        return Response(statusCode: 200, headers: headers, body: Array("x".utf8))
    }
}
