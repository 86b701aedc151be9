/// How the client's `resilience` treats the requests of one command. The module `ErrandResilience` makes values that
/// replace parts of the client's settings. A value: any thread.
public struct RequestResilience: Sendable {
    /// `nil`: no part applies.
    package let choice: (any ResilienceChoice)?

    package init(_ choice: (any ResilienceChoice)?) { self.choice = choice }

    /// The request is sent once, past all parts: no retry, no hedge, no breaker, no limit. Deadlines, endpoints and
    /// guards of addresses still apply.
    public static let off = RequestResilience(nil)
}

/// What replaces parts of a client's resilience.
package protocol ResilienceChoice: Sendable {}
