/// Why a call sends no further hedge. The raw values are fit for a metric label.
public enum HedgeStop: String, Sendable, Hashable, CaseIterable {
    /// The request, or its body, must not be sent twice.
    case notRepeatable
    /// There is no delay yet, or the policy allows no hedges.
    case noDelay
    /// ``HedgePolicy/maxExtra`` hedges were sent.
    case hedgesExhausted
    /// A budget has no token, or would have none (``HedgePolicy/isDryRun``).
    case budgetExhausted
    /// The hedge is only counted (``HedgePolicy/isDryRun``).
    case dryRun
    /// The next hedge would not leave before the deadline.
    case deadlineTooClose
    /// The server asked not to be called again.
    case pushedBack
}
