import HTTPTypes

/// The credential in an answer to a challenge.
enum ServerCredential: Sendable, Hashable {
    /// The value of `Authorization` or `Proxy-Authorization`.
    case field(String)
    /// Credentials with which the engine answers the server's next challenge.
    case server(ServerAuthentication)

    /// Adds the credential to a request, replacing any other. Throws ``ErrandError/authenticationFailed`` for a
    /// credential that cannot be sent to a proxy.
    func apply(to request: inout RequestDescription, by side: ChallengeSide) throws(ErrandError) {
        switch (self, side) {
        case (.field(let value), .server):
            try request.headers.set(side.field, to: value)
            request.authentication = nil
        case (.field(let value), .proxy):
            try request.headers.set(side.field, to: value)
        case (.server(let authentication), .server):
            // The engine rejects an `Authorization` field in addition, which would be a second answer.
            request.headers.remove(side.field)
            request.authentication = authentication
        case (.server, .proxy):
            throw ErrandError.authenticationFailed.with(message: "Digest credentials cannot answer a proxy's challenge")
        }
    }
}

extension RequestDescription {
    /// Whether the request has credentials of its own for that side.
    func hasCredential(for side: ChallengeSide) -> Bool {
        headers[side.field] != nil || (side == .server && authentication != nil)
    }
}
