package import HTTPTypes

/// The properties of a request that a retry depends on.
package struct RetrySubject: Sendable, Hashable {
    /// Whether the request may be sent again although the server may have acted on it.
    package let isRepeatable: Bool

    package init(isRepeatable: Bool) {
        self.isRepeatable = isRepeatable
    }

    package init(
        method: HTTPRequest.Method, fields: HTTPFields, options: CommandOptions = [], policy: RetryPolicy
    ) {
        let key = Self.idempotencyKey.flatMap { fields[$0] }
        let hasKey = key?.contains { $0 != " " && $0 != "\t" } ?? false
        isRepeatable = hasKey || options.contains(.allowReplay) || policy.methods.contains(method)
    }

    /// The fields are parsed only where they decide.
    package init(_ description: RequestDescription, _ policy: RetryPolicy) {
        if policy.methods.contains(description.method) {
            self.init(isRepeatable: true)
        } else {
            self.init(
                method: description.method, fields: description.headers.fields, options: description.options,
                policy: policy)
        }
    }

    /// Whether the request may be sent a second time while the first one is under way. Servers answer 409 to a request
    /// whose `Idempotency-Key` is that of a request under way (IETF draft `idempotency-key-header`).
    package static func mayOverlap(_ description: RequestDescription, _ policy: RetryPolicy) -> Bool {
        guard policy.methods.mayOverlap(description.method) else { return false }
        return description.method == .get || idempotencyKey.flatMap { description.headers[$0] } == nil
    }

    private static let idempotencyKey = HTTPField.Name("Idempotency-Key")
}
