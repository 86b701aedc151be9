import Errand
import ErrandTesting

/// How the client of a walk authenticates itself.
final class ClientWalkAccess: Sendable {
    let tokens: ClientWalkTokens
    let authenticator: ClientWalkAuthenticator
    let interceptor: AuthenticationInterceptor<ClientWalkAuthenticator>
    /// What must not happen. It is noted where it happens, on threads that no test belongs to.
    let faults: Notes<String>
    private let isInline: Bool

    init(_ settings: ClientWalkSettings.Access, isInline: Bool, _ dice: ClientWalkDice, _ clock: ManualClock) {
        let timer = ClientWalkTimer(clock)
        let tokens = ClientWalkTokens()
        let faults = Notes<String>()
        let authenticator = ClientWalkAuthenticator(dice, clock, timer, tokens, faults)
        self.tokens = tokens
        self.faults = faults
        self.authenticator = authenticator
        self.isInline = isInline
        interceptor = AuthenticationInterceptor(
            authenticator, credential: settings.hasToken ? tokens.issue() : nil,
            refreshTimeout: settings.refreshTimeout, clock: timer)
    }

    /// A user logs in or out, or the server revokes what it has issued.
    func disturb(_ dice: ClientWalkDice) {
        guard interceptor.credential != nil else {
            interceptor.credential = tokens.issue()
            return
        }
        switch dice.below(8) {
        case 0: interceptor.credential = nil
        case 1..<3: interceptor.credential = tokens.issue()
        case 3..<5: interceptor.invalidate()
        default: tokens.revokeAll()
        }
    }

    /// Requests carry a token, and those of a refresh carry none.
    func check(_ request: RequestDescription) {
        let name = request.url.split(separator: "/").last ?? ""
        let hasToken = ClientWalkTokens.token(of: request) != nil
        if hasToken, name == ClientWalkAuthenticator.path { faults.add("a request of a refresh carries a token") }
        // An inline queue runs callbacks of any request in the task of a refresh, and requests that such a callback
        // starts again belong to the refresh.
        if !hasToken, !isInline, Int(name) != nil { faults.add("a request carries no token") }
    }
}
