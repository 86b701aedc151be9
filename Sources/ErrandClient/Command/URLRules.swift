/// How a command's path becomes a URL. What is left `nil` is inherited: from the command by an override, and from the
/// client's ``Client/Settings`` by a command.
public struct URLRules: Sendable {
    /// In place of ``Client/Settings/pathJoining``.
    public var pathJoining: PathJoining?
    /// In place of ``Client/Settings/urlFilters``; empty: none is applied.
    public var filters: [any URLFilter]?
    /// In place of ``Client/Settings/filtersAbsoluteURLs``.
    public var filtersAbsoluteURLs: Bool?

    /// Makes rules; what is left out is inherited.
    public init(
        pathJoining: PathJoining? = nil, filters: [any URLFilter]? = nil, filtersAbsoluteURLs: Bool? = nil
    ) {
        self.pathJoining = pathJoining
        self.filters = filters
        self.filtersAbsoluteURLs = filtersAbsoluteURLs
    }

    /// The members of `base` where there are none here.
    package func inheriting(_ base: URLRules) -> URLRules {
        URLRules(
            pathJoining: pathJoining ?? base.pathJoining, filters: filters ?? base.filters,
            filtersAbsoluteURLs: filtersAbsoluteURLs ?? base.filtersAbsoluteURLs)
    }
}
