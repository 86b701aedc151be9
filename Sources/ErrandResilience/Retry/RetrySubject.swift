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

    private static let idempotencyKey = HTTPField.Name("Idempotency-Key")
}
