/// How a command's path becomes a URL. A member that is `nil` is inherited: an override inherits it from the command,
/// and a command from the client's ``Client/Settings``.
public struct URLRules: Sendable {
    /// Replaces ``Client/Settings/pathJoining``.
    public var pathJoining: PathJoining?
    /// Replaces ``Client/Settings/urlFilters``; empty: no filter is applied.
    public var filters: [any URLFilter]?
    /// Replaces ``Client/Settings/filtersAbsoluteURLs``.
    public var filtersAbsoluteURLs: Bool?

    /// Makes rules. A member without an argument is inherited.
    public init(
        pathJoining: PathJoining? = nil, filters: [any URLFilter]? = nil, filtersAbsoluteURLs: Bool? = nil
    ) {
        self.pathJoining = pathJoining
        self.filters = filters
        self.filtersAbsoluteURLs = filtersAbsoluteURLs
    }

    /// Returns these rules, with the members of `base` where these are `nil`.
    package func inheriting(_ base: URLRules) -> URLRules {
        URLRules(
            pathJoining: pathJoining ?? base.pathJoining, filters: filters ?? base.filters,
            filtersAbsoluteURLs: filtersAbsoluteURLs ?? base.filtersAbsoluteURLs)
    }
}
