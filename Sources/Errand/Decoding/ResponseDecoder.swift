import FoundationEssentials

/// What reads the responses of a request as JSON. One reference and a flag, as every copy of a response has it.
struct ResponseDecoder: Sendable {
    let decoder: JSONDecoder
    /// The request's own. If not, the command's or the client's: a command that has another of its own takes that.
    let isOverride: Bool
}

extension Response {
    func read(by decoder: ResponseDecoder?) -> Response {
        guard let decoder else { return self }
        var response = self
        response.decoder = decoder
        return response
    }
}

extension TransferResult {
    func read(by decoder: ResponseDecoder?) -> TransferResult {
        guard let decoder else { return self }
        switch self {
        case .response(let response): return .response(response.read(by: decoder))
        case .failure(let error):
            guard let response = error.response else { return self }
            return .failure(error.with(response: response.read(by: decoder)))
        }
    }
}
