package import HTTPTypes

/// What a cache does with a request. Entries are named by their index among those that were looked at.
package enum HTTPCacheDecision: Sendable, Hashable {
    /// Serve it; nothing goes to the server. `age` in milliseconds.
    case fresh(entry: Int, age: Int64)
    /// Serve it though it is stale. With `revalidation` ask the server in the background, with these fields added (none,
    /// where the entry has no validator); `nil`: the request accepts it as it is, or forbids to ask.
    case stale(entry: Int, age: Int64, revalidation: HTTPFields?)
    /// Ask the server, with these fields added; none, where the entry has no validator and is only of use if the server
    /// fails.
    case revalidate(entry: Int, conditions: HTTPFields, reason: Reason)
    /// Ask the server, as if there were no cache.
    case miss(Miss)
    /// The request is for stored responses only, and there is none: 504 (RFC 9111 5.2.1.7).
    case unsatisfiable

    package enum Reason: Sendable, Hashable {
        /// The entry is no longer fresh, or must never be used unasked.
        case stale
        /// The request wants it so.
        case request
    }

    package enum Miss: Sendable, Hashable {
        /// Neither GET nor HEAD.
        case method
        /// It asks for a part, or has conditions of its own: its sender keeps a copy itself.
        case bypass
        /// Nothing is stored for the URL.
        case nothingStored
        /// What is stored answers requests with other fields.
        case vary
        /// What is stored must not be used.
        case unusable
    }
}
