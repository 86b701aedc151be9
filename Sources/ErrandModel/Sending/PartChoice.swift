/// A command's choice for one part of its client.
package enum PartChoice<Part: Sendable>: Sendable {
    /// The client's part applies.
    case client
    case off
    case own(Part)

    package var isClient: Bool {
        if case .client = self { true } else { false }
    }

    /// The part that applies; `nil`: none. `own`: makes the part from the command's own value.
    package func part<Made>(client: Made?, own: (Part) -> Made) -> Made? {
        switch self {
        case .client: return client
        case .off: return nil
        case .own(let given): return own(given)
        }
    }

    /// The part that applies, if commands give the part itself; `nil`: none.
    package func part(client: Part?) -> Part? { part(client: client) { $0 } }
}

extension PartChoice where Part: Equatable {
    /// `policy`: as the caller gives it; `nil`: the client's. `off`: the policy that does nothing.
    package init(_ policy: Part?, off: Part) {
        if let policy {
            self = policy == off ? .off : .own(policy)
        } else {
            self = .client
        }
    }
}
