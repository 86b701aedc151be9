public import HTTPTypes

extension Response {
    /// Whether this is a response without content: 1xx, 204, 205, 304, and each response to HEAD (RFC 9110 6.4.1,
    /// 15.3.6).
    ///
    /// A ``Command/shape`` is not checked for these. Any other empty body lacks the promised content.
    ///
    /// - Parameter method: The method of the request, which the response alone does not tell. Default: GET,
    ///   for which only the status counts.
    public func isWithoutContent(answering method: HTTPRequest.Method = .get) -> Bool {
        guard body.isEmpty else { return false }
        switch statusCode {
        case 100..<200, 204, 205, 304: return true
        default: return method == .head
        }
    }

    /// Whether the body is empty, or the single space that Rails sends for `head :ok`.
    var isBlank: Bool {
        switch body.count {
        case 0: true
        case 1: body.withBytes { $0.first == 0x20 }
        default: false
        }
    }
}

/// A type that can be made from an empty body.
protocol ReadableFromNothing {
    static var nothing: Self { get }
}

extension Optional: ReadableFromNothing {
    static var nothing: Self { .none }
}
