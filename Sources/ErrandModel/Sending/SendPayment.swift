/// What a transfer of a run pays to the retry budget of its service. One byte of each description.
///
/// A budget belongs to a service: the name that the command gives, or else the origin. Load is measured against the first
/// sends to that service. So the first transfer of a run to a service deposits there, whatever its cause is: the target of
/// a redirect to another origin sees each request once.
package enum SendPayment: UInt8, Sendable {
    /// The first transfer of the run to its service.
    case deposit
    /// A further transfer: takes a token, and is never refused.
    case charge
    /// The answer to a challenge of the service: counted as a charge, but takes no token, because a service that is down
    /// challenges nobody.
    case count
}
