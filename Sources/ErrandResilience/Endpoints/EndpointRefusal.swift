/// Why no endpoint was chosen for a request. Nothing was sent.
public struct EndpointRefusal: Error, Sendable, Hashable {
    /// The reason.
    public enum Reason: String, Sendable, Hashable, CaseIterable {
        /// The list is empty.
        case noEndpoints
        /// Every endpoint is ejected, and the panic threshold does not apply.
        case noneHealthy
        /// The request has tried every endpoint that may be used, and asked for another one.
        case allTried
    }

    /// The reason.
    public let reason: Reason

    /// Makes a refusal.
    public init(_ reason: Reason) {
        self.reason = reason
    }
}
