package import FoundationEssentials

/// The JSON decoder for the responses of a request. One reference and a flag, because every copy of a response contains
/// it.
package struct ResponseDecoder: Sendable {
    package let decoder: JSONDecoder
    /// Whether the decoder is the request's own, from its overrides. Otherwise it is the command's or the client's, and
    /// a command that declares another decoder uses that one.
    package let isOverride: Bool

    package init(decoder: JSONDecoder, isOverride: Bool) {
        self.decoder = decoder
        self.isOverride = isOverride
    }
}

extension Response {
    package func read(by decoder: ResponseDecoder?) -> Response {
        guard let decoder else { return self }
        var response = self
        response.decoder = decoder
        return response
    }
}

extension TransferResult {
    package func read(by decoder: ResponseDecoder?) -> TransferResult {
        guard let decoder else { return self }
        switch self {
        case .response(let response): return .response(response.read(by: decoder))
        case .failure(let error):
            guard let response = error.response else { return self }
            return .failure(error.with(response: response.read(by: decoder)))
        }
    }
}
