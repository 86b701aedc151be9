/// Alters the path of commands before it is joined to a base URL: common query parameters, another version of an API
/// (YTKNetwork `YTKUrlFilterProtocol`). What needs more than the path, or has to wait, is an interceptor.
public protocol URLFilter: Sendable {
    /// `url` is the command's ``Command/path``, or what the filter before made of it; its own query items and parameters
    /// are not in it yet. Called on the thread that starts the request, once per start. An error thrown here ends the
    /// request with ``ErrandError/interceptionFailed``.
    func filter(_ url: String, for command: any Command) throws -> String
}

/// Appends the same query items to every URL (YTKNetwork's example `YTKUrlArgumentsFilter`): a version, a device, a
/// language. They go behind a query that is there and before a fragment.
public struct QueryParameterFilter: URLFilter, Hashable {
    /// Percent-encoded when they are appended.
    public var items: [QueryItem]

    /// Makes a filter.
    public init(_ items: [QueryItem]) {
        self.items = items
    }

    /// The same, sorted by name as a dictionary has no order.
    public init(_ items: [String: String]) {
        self.init(items.sorted { $0.key < $1.key }.map { QueryItem($0.key, $0.value) })
    }

    /// Appends the items.
    public func filter(_ url: String, for command: any Command) -> String {
        items.isEmpty ? url : PercentEncoding.appending(PercentEncoding.query(items), to: url)
    }
}
