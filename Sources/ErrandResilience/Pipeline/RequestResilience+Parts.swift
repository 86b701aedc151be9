/// The parts that a command replaces.
///
/// A class: each attempt asks for it more than once, and a struct with this many policies would be copied.
final class ResilienceReplacement: ResilienceChoice {
    /// The parts, as the command gives them.
    struct Parts: Sendable {
        var retry: RetryPolicy?
        var budget = PartChoice<RetryBudget.Policy>.client
        var hedge: HedgePolicy?
        var breaker = PartChoice<BreakerPolicy>.client
        var concurrency = PartChoice<ConcurrencyLimit.Settings>.client
        var rate = PartChoice<RateLimit.Settings>.client
        var deadlineHeader = PartChoice<DeadlineHeader>.client
        var endpoints = PartChoice<CommandEndpoints>.client
        var addressGuard = PartChoice<AddressGuard>.client
        var hsts = PartChoice<HSTSStore>.client
        var altServices = PartChoice<AltServiceCache>.client
        var name: String?
        var isOff = false
    }

    let retry: RetryPolicy?
    let budget: PartChoice<RetryBudget.Policy>
    let hedge: HedgePolicy?
    let breaker: PartChoice<BreakerPolicy>
    let concurrency: PartChoice<ConcurrencyLimit.Settings>
    let rate: PartChoice<RateLimit.Settings>
    let deadlineHeader: PartChoice<DeadlineHeader>
    let endpoints: PartChoice<CommandEndpoints>
    let addressFilter: PartChoice<any AddressFilter>
    let hsts: PartChoice<HSTSStore>
    let altServices: PartChoice<AltServiceCache>
    let name: String?
    let isOff: Bool
    /// Whether the budget, the breaker and the limits differ from those of the request's origin.
    let isKeptApart: Bool
    /// Whether endpoints, HSTS or alternative services differ from the client's.
    let choosesTransports: Bool

    init(_ parts: Parts) {
        retry = parts.retry
        budget = parts.budget
        hedge = parts.hedge
        breaker = parts.breaker
        concurrency = parts.concurrency
        rate = parts.rate
        deadlineHeader = parts.deadlineHeader
        endpoints = parts.endpoints
        addressFilter =
            switch parts.addressGuard {
            case .client: .client
            case .off: .off
            case .own(let subject): .own(AddressGuardFilter(template: subject))
            }
        hsts = parts.hsts
        altServices = parts.altServices
        name = parts.name
        isOff = parts.isOff
        isKeptApart =
            parts.name != nil || !parts.budget.isClient || !parts.breaker.isClient || !parts.concurrency.isClient
            || !parts.rate.isClient
        choosesTransports = !parts.endpoints.isClient || !parts.hsts.isClient || !parts.altServices.isClient
    }

    var urlUpgrade: PartChoice<any URLUpgrade> {
        switch hsts {
        case .client: .client
        case .off: .off
        case .own(let store): .own(store)
        }
    }
}

extension RequestResilience {
    /// Replaces parts of the client; a part that is `nil`, the default, is that of the client. Each part is chosen
    /// independently, also one that the client does not have.
    ///
    /// ```swift
    /// struct Search: Command {
    ///     var path: String { "search" }
    ///     var resilience: RequestResilience? {
    ///         .init(retry: .never, breaker: BreakerPolicy(minimumCalls: 5), rate: .unlimited, name: "search")
    ///     }
    /// }
    /// ```
    ///
    /// A replaced budget, breaker or limit is kept by its policy, and by `name` or else by the origin of the request.
    /// Requests with the same key and an equal policy share it, whatever their commands. Requests with another policy
    /// do not share it, even if the name is the same. A policy that equals the client's is the client's part. The
    /// client keeps the parts of the 64 policies of each kind that were used last
    /// (``ResilienceParts/circuitBreakers(with:)``), so reuse a policy instead of making another one for each request.
    ///
    /// `addressGuard` applies in every client that has an engine. `hsts` replaces URLs in every client. All else has an
    /// effect only in a client with ``Client/Configuration/resilience``, which may be an empty `Resilience()`, or with
    /// the client's setting of the same name.
    ///
    /// - Parameters:
    ///   - retry: when the requests are retried; ``RetryPolicy/never``: never.
    ///   - budget: how many extra sends the requests may cause; ``RetryBudget/Policy/unlimited``: any number.
    ///   - hedge: when the requests are sent twice; ``HedgePolicy/never``: never.
    ///   - breaker: when the requests are refused because their service fails; ``BreakerPolicy/never``: never.
    ///   - concurrency: how many of the requests may be in flight; ``ConcurrencyLimit/Settings/unlimited``: any number.
    ///   - rate: how many of the requests are sent in a time; ``RateLimit/Settings/unlimited``: any number, and pauses
    ///     that the server asks for are not obeyed.
    ///   - deadlineHeader: the field that tells the server the time that is left; ``DeadlineHeader/never``: none.
    ///   - endpoints: the servers that stand for the URL of the requests; `.off`: the URL itself.
    ///   - addressGuard: the guard that judges the addresses of their connections; it may be more or less strict than
    ///     the client's; `.off`: none. Requests under different guards share no connections and no stored responses,
    ///     and the limit of requests in flight to an origin applies to each guard separately. Make one value, and
    ///     reuse it.
    ///   - hsts: the store of hosts that are reached by https alone, which the responses teach; `.off`: none.
    ///   - altServices: the cache of alternative services that are used, which the responses teach; `.off`: none.
    ///   - name: the key of the budget, the breaker, the limits and the latencies of these requests, instead of the
    ///     origin. Requests of one name share them, also across origins (a bulkhead of their own).
    public init(
        retry: RetryPolicy? = nil, budget: RetryBudget.Policy? = nil, hedge: HedgePolicy? = nil,
        breaker: BreakerPolicy? = nil, concurrency: ConcurrencyLimit.Settings? = nil, rate: RateLimit.Settings? = nil,
        deadlineHeader: DeadlineHeader? = nil, endpoints: CommandPart<CommandEndpoints>? = nil,
        addressGuard: CommandPart<AddressGuard>? = nil, hsts: CommandPart<HSTSStore>? = nil,
        altServices: CommandPart<AltServiceCache>? = nil, name: String? = nil
    ) {
        var parts = ResilienceReplacement.Parts()
        parts.retry = retry
        parts.budget = PartChoice(budget, off: .unlimited)
        parts.hedge = hedge
        parts.breaker = PartChoice(breaker, off: .never)
        parts.concurrency = PartChoice(concurrency, off: .unlimited)
        parts.rate = PartChoice(rate, off: .unlimited)
        parts.deadlineHeader = PartChoice(deadlineHeader, off: .never)
        parts.endpoints = PartChoice(endpoints)
        parts.addressGuard = PartChoice(addressGuard)
        parts.hsts = PartChoice(hsts)
        parts.altServices = PartChoice(altServices)
        parts.name = name
        self.init(ResilienceReplacement(parts))
    }

    /// Like `RequestResilience.off`, with another address guard: the request is sent once, past all parts of the
    /// client's `resilience`.
    ///
    /// - Parameter addressGuard: the guard that judges the addresses of the request's connections; `.off`: none.
    public static func off(addressGuard: CommandPart<AddressGuard>) -> RequestResilience {
        var parts = ResilienceReplacement.Parts()
        parts.isOff = true
        parts.addressGuard = PartChoice(addressGuard)
        return RequestResilience(ResilienceReplacement(parts))
    }
}

extension RequestDescription {
    /// Whether no part applies to the request.
    var isExempt: Bool { resilience?.isOff ?? false }

    /// Whether the command has endpoints of its own.
    var hasOwnEndpoints: Bool {
        guard hasRareMembers, case .own? = replacedResilience?.endpoints else { return false }
        return true
    }

    var replacedResilience: ResilienceReplacement? {
        // Most requests have none, and a cast is not free.
        guard let choice = resilience?.choice else { return nil }
        return choice as? ResilienceReplacement
    }
}
