extension HAR {
    /// Why an exchange failed, as an ``ErrandError``.
    public struct Failure: Sendable, Hashable {
        /// ``ErrandError/shortDescription``.
        public var kind: String
        /// ``ErrandError/message``.
        public var message: String
        /// ``ErrandError/curlCode``.
        public var curlCode: Int?
        /// ``ErrandError/systemErrorCode``.
        public var systemErrorCode: Int?

        /// Makes a failure.
        public init(kind: String, message: String, curlCode: Int? = nil, systemErrorCode: Int? = nil) {
            self.kind = kind
            self.message = message
            self.curlCode = curlCode
            self.systemErrorCode = systemErrorCode
        }

        /// The failure of a transfer. URLs in the message have no secrets: libcurl's messages name hosts only, and this
        /// library redacts what it quotes.
        public init(_ error: ErrandError) {
            self.init(
                kind: error.shortDescription, message: error.message, curlCode: error.curlCode,
                systemErrorCode: error.systemErrorCode)
        }

        /// The same, but in the message URLs have no secrets of `redaction`, and `pseudonyms` replace the secrets of
        /// responses. The error of a test's own transport, or of a server, may quote either.
        init(_ error: ErrandError, hiding redaction: Redaction, by pseudonyms: Pseudonyms?) {
            self.init(error)
            message = redaction.text(message)
            if let pseudonyms { message = pseudonyms.applied(to: message) }
        }

        /// Makes an error from the failure. A kind that this version does not know becomes ``ErrandError/connectionLost``.
        package func error(response: Response?, metrics: TransferMetrics?) -> ErrandError {
            ErrandError(
                ErrandError.Code(rawValue: kind) ?? .connectionLost,
                details: .init(
                    message: message, curlCode: Int32(clamping: curlCode ?? 0),
                    systemErrorCode: Int32(clamping: systemErrorCode ?? 0), response: response, metrics: metrics))
        }
    }
}
