import FoundationEssentials

/// What reads the responses of a request as JSON.
enum ResponseDecoder: Sendable {
    /// The command's or the client's: a command that has another of its own takes that.
    case inherited(JSONDecoder)
    /// The request's own.
    case override(JSONDecoder)

    var decoder: JSONDecoder {
        switch self {
        case .inherited(let decoder), .override(let decoder): decoder
        }
    }
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
