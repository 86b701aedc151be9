package import HTTPTypes

/// How a cache handles a request. An entry is identified by its index in the list of stored entries.
package enum HTTPCacheDecision: Sendable, Hashable {
    /// Serve the entry; send nothing to the server. `age` in milliseconds.
    case fresh(entry: Int, age: Int64)
    /// Serve the stale entry. With `revalidation`, send a request in the background, with these fields added (none if
    /// the entry has no validator). `nil`: the request accepts the stale entry, or forbids sending.
    case stale(entry: Int, age: Int64, revalidation: HTTPFields?)
    /// Send the request, with these fields added. There are none if the entry has no validator: such an entry is
    /// used only if the server fails.
    case revalidate(entry: Int, conditions: HTTPFields, reason: Reason)
    /// Send the request as if there were no cache.
    case miss(Miss)
    /// The request accepts only stored responses, and there is none: 504 (RFC 9111 5.2.1.7).
    case unsatisfiable

    package enum Reason: Sendable, Hashable {
        /// The entry is stale, or must never be used without revalidation.
        case stale
        /// The request asks for revalidation.
        case request
    }

    package enum Miss: Sendable, Hashable {
        /// The method is neither GET nor HEAD.
        case method
        /// A range request or a conditional request: its sender has its own copy.
        case bypass
        /// Nothing is stored for the URL.
        case nothingStored
        /// The stored responses belong to requests with other header fields.
        case vary
        /// The stored responses must not be used.
        case unusable
    }
}
