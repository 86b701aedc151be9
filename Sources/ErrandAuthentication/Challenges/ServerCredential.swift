import HTTPTypes

/// What an answered challenge comes to.
enum ServerCredential: Sendable, Hashable {
    /// The value of `Authorization` or `Proxy-Authorization`.
    case field(String)
    /// What the engine answers the server's next challenge with.
    case server(ServerAuthentication)

    /// Puts it into a request, in place of what was there. Throws ``ErrandError/authenticationFailed`` for what a proxy
    /// cannot be told.
    func apply(to request: inout RequestDescription, by side: ChallengeSide) throws(ErrandError) {
        switch (self, side) {
        case (.field(let value), .server):
            try request.headers.set(side.field, to: value)
            request.authentication = nil
        case (.field(let value), .proxy):
            try request.headers.set(side.field, to: value)
        case (.server(let authentication), .server):
            // The engine refuses a field beside it, which would be a second answer.
            request.headers.remove(side.field)
            request.authentication = authentication
        case (.server, .proxy):
            throw ErrandError.authenticationFailed.with(message: "a proxy cannot be answered by Digest")
        }
    }
}

extension RequestDescription {
    /// Whether the request brings credentials for that side itself.
    func hasCredential(for side: ChallengeSide) -> Bool {
        headers[side.field] != nil || (side == .server && authentication != nil)
    }
}
