/// A mark that the library sets on a response while the response passes through the interceptors.
/// ``Response/replacing(body:headers:)`` keeps the mark.
package enum ResponseMark: Sendable, Hashable {
    /// The head of a streamed response, with this number: the caller gets the body of the stream with it.
    case streamedHead(Int)
    /// A part of the library answered instead of the server, with a complete body.
    case answer
    /// The body was received, but only its beginning was kept.
    case truncated
}

extension Response {
    /// `nil` for most responses.
    package var mark: ResponseMark? { attachment as? ResponseMark }

    /// The same response as an answer of the library. A response that carries something else, such as the file of a
    /// download, stays as it is.
    package var asAnswer: Response {
        guard attachment == nil else { return self }
        let marked = Response(
            statusCode: statusCode, head: rawHead, body: body.bytes, metrics: metrics, trailers: rawTrailers,
            cacheInfo: cacheInfo, attachment: ResponseMark.answer)
        return marked.read(by: decoder)
    }

    /// Whether both values are the same response, not only equal ones.
    package func isSame(as other: Response) -> Bool { storage === other.storage }

    /// Whether this is the other response, or was made from it by ``replacing(body:headers:)``. The latter is known only
    /// for responses that a cache took part in.
    package func stems(from other: Response) -> Bool {
        if isSame(as: other) { return true }
        guard let info = cacheInfo, let others = other.cacheInfo else { return false }
        return info === others
    }
}
