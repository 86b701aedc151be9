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

/// Changes the path of commands before it is joined to a base URL: common query parameters, another version of an API
/// (YTKNetwork `YTKUrlFilterProtocol`). Use an ``Interceptor`` to change more than the path, or to wait.
public protocol URLFilter: Sendable {
    /// Returns the path to use instead of `url`: the command's ``Command/path``, or the result of the previous filter.
    /// The command's own query items and parameters are not in `url` yet. Called on the thread that starts the request,
    /// once per start. An error thrown here ends the request with ``ErrandError/interceptionFailed``.
    func filter(_ url: String, for command: any Command) throws -> String
}

/// Appends the same query items to every URL (YTKNetwork's example `YTKUrlArgumentsFilter`): a version, a device, a
/// language. The items go after an existing query and before a fragment.
public struct QueryParameterFilter: URLFilter, Hashable {
    /// The items; percent-encoded when they are appended.
    public var items: [QueryItem]

    /// Makes a filter.
    public init(_ items: [QueryItem]) {
        self.items = items
    }

    /// Makes a filter with the items sorted by name, because a dictionary has no order.
    public init(_ items: [String: String]) {
        self.init(items.sorted { $0.key < $1.key }.map { QueryItem($0.key, $0.value) })
    }

    /// Appends the items.
    public func filter(_ url: String, for command: any Command) -> String {
        items.isEmpty ? url : PercentEncoding.appending(PercentEncoding.query(items), to: url)
    }
}
