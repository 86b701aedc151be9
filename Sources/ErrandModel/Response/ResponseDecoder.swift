package import FoundationEssentials

/// What reads the responses of a request as JSON. One reference and a flag, as every copy of a response has it.
package struct ResponseDecoder: Sendable {
    package let decoder: JSONDecoder
    /// The request's own. If not, the command's or the client's: a command that has another of its own takes that.
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
