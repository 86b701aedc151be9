/// What an answered challenge comes to.
enum ServerCredential: Sendable, Hashable {
    /// The value of `Authorization` or `Proxy-Authorization`.
    case field(String)

    /// Puts it into a request, in place of what was there.
    func apply(to request: inout RequestDescription, by side: ChallengeSide) throws(ErrandError) {
        switch self {
        case .field(let value):
            try request.headers.set(side.field, to: value)
        }
    }
}
