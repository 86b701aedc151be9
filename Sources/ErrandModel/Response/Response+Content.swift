public import HTTPTypes

extension Response {
    /// Whether it is of those that have no content: 1xx, 204, 205, 304, and each answer to HEAD (RFC 9110 6.4.1, 15.3.6).
    ///
    /// A ``Command/shape`` is not asked about these. Every other empty body is an answer that lacks what was promised.
    ///
    /// - Parameter method: What the request was sent with; a response alone does not tell. Default: none that matters.
    public func isWithoutContent(answering method: HTTPRequest.Method = .get) -> Bool {
        guard body.isEmpty else { return false }
        switch statusCode {
        case 100..<200, 204, 205, 304: return true
        default: return method == .head
        }
    }

    /// Whether the body says nothing: it is empty, or the single space that Rails sends for `head :ok`.
    var isBlank: Bool {
        switch body.count {
        case 0: true
        case 1: body.withBytes { $0.first == 0x20 }
        default: false
        }
    }
}

/// What nothing turns into.
protocol ReadableFromNothing {
    static var nothing: Self { get }
}

extension Optional: ReadableFromNothing {
    static var nothing: Self { .none }
}
