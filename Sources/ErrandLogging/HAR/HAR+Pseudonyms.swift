import HTTPTypes

extension HAR.Sent {
    /// Replaces values that were secrets in responses, wherever they occur in the request.
    mutating func apply(_ pseudonyms: Pseudonyms) {
        url = pseudonyms.applied(to: url)
        headers = headers.applying(pseudonyms)
        if let bytes = body?.bytes { body?.bytes = pseudonyms.applied(to: bytes) }
    }
}

extension HAR.Received {
    /// Replaces values that were secrets in responses, wherever they occur in this response.
    mutating func apply(_ pseudonyms: Pseudonyms) {
        headers = headers.applying(pseudonyms)
        trailers = trailers.applying(pseudonyms)
        body.bytes = pseudonyms.applied(to: body.bytes)
    }
}

extension HTTPFields {
    fileprivate func applying(_ pseudonyms: Pseudonyms) -> HTTPFields {
        HTTPFields(map { HTTPField(name: $0.name, value: pseudonyms.applied(to: $0.value)) })
    }
}
