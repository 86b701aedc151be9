/// How the client treats failures of one command's requests, and where these requests may go. The module
/// `ErrandResilience` makes values that replace parts of the client's settings. A value: any thread.
public struct RequestResilience: Sendable {
    /// `nil`: no part of the client's `resilience` applies.
    package let choice: (any ResilienceChoice)?

    package init(_ choice: (any ResilienceChoice)?) { self.choice = choice }

    /// Whether the request is sent once and bypasses all parts.
    package var isOff: Bool { choice?.isOff ?? true }

    /// The request is sent once and bypasses all parts: no retry, no hedge, no breaker, no limit. The client's deadlines,
    /// endpoints, alternative services, HSTS and address guard still apply. The module `ErrandResilience` has
    /// `off(addressGuard:)`, which sets another guard.
    public static let off = RequestResilience(nil)
}

/// Replaces parts of a client. A class, because descriptions of requests hold it.
package protocol ResilienceChoice: AnyObject, Sendable {
    /// Whether no part of the client's `resilience` applies.
    var isOff: Bool { get }
    /// Judges the addresses of the request's connections.
    var addressFilter: PartChoice<any AddressFilter> { get }
    /// Replaces the request's URLs.
    var urlUpgrade: PartChoice<any URLUpgrade> { get }
    /// The name under which the budget, breaker and limits of the requests are kept; `nil`: the origin.
    var name: String? { get }
}
