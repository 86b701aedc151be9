public import FoundationEssentials

extension Response {
    /// Decodes the body as JSON in UTF-8 (RFC 8259 8.1), UTF-16 or UTF-32; a body in none of these is read in the
    /// charset of `Content-Type`, if that names another one. An empty body, or a body of a single space, is `nil` if the
    /// type is an optional, for commands whose server may answer 204.
    ///
    /// `decoder` defaults to that of the request: ``RequestOverrides/Members/jsonDecoder``, then
    /// ``Command/jsonDecoder``, then ``Client/Settings/jsonDecoder``. A response that does not come from a request uses
    /// a decoder with Foundation's own settings. Throws ``ErrandError/responseDecodingFailed``, with Foundation's error
    /// as its `underlyingError`.
    public func decode<Value: Decodable>(
        _ type: Value.Type, using decoder: JSONDecoder? = nil
    ) throws(ErrandError) -> Value {
        if isBlank, let type = type as? any ReadableFromNothing.Type, let nothing = type.nothing as? Value {
            return nothing
        }
        var decoder = decoder ?? SharedCoders.jsonDecoder
        if decoder === SharedCoders.jsonDecoder, let own = self.decoder { decoder = own.decoder }
        do {
            return try JSONReader.value(type, from: body.data, using: decoder)
        } catch {
            if case DecodingError.dataCorrupted = error, let charset, TextEncoding(label: charset) != .utf8,
                let text = try? text(charset: charset),
                let value = try? JSONReader.value(type, from: Data(text.utf8), using: decoder)
            {
                return value
            }
            throw undecodable("JSON \(type)", error)
        }
    }

    /// Decodes the body as a property list in the XML or the OpenStep format, in UTF-8 and with at most 512 levels
    /// (AFNetworking `AFPropertyListResponseSerializer`). A binary property list is refused, because Foundation's
    /// reader for it traps on malformed input. A date of 32 bytes or more, and markup that parsers read differently,
    /// are refused as well. `decoder` defaults to one with Foundation's own settings. Throws
    /// ``ErrandError/responseDecodingFailed``, with Foundation's error as its `underlyingError`.
    public func decodePropertyList<Value: Decodable>(
        _ type: Value.Type, using decoder: PropertyListDecoder? = nil
    ) throws(ErrandError) -> Value {
        do {
            try PropertyListGuard.check(body)
            return try (decoder ?? PropertyListDecoder()).decode(type, from: body.data)
        } catch {
            throw undecodable("property list \(type)", error)
        }
    }

    /// An empty body gets a special message, because a parser's message about its grammar would not help.
    func undecodable(_ expected: String, _ error: any Error) -> ErrandError {
        let message =
            body.isEmpty
            ? "the body is empty, expected a \(expected)" : "the body is not a \(expected): \(error)"
        return .responseDecodingFailed.with(message: message, response: self, underlying: error)
    }

    /// The value of the first decoder that does not throw (AFNetworking `AFCompoundResponseSerializer`):
    ///
    /// ```swift
    /// try response.decodeFirst(of: [
    ///     { try $0.decode(Answer.self) },
    ///     { try $0.decodePropertyList(Answer.self) },
    /// ])
    /// ```
    ///
    /// The decoders are called in order, on the calling thread. Throws ``ErrandError/responseDecodingFailed``, whose
    /// `underlyingError` is a ``CompoundDecodingError`` with the error of each decoder.
    public func decodeFirst<Value>(of decoders: [(Response) throws -> Value]) throws(ErrandError) -> Value {
        var errors: [any Error] = []
        for decoder in decoders {
            do {
                return try decoder(self)
            } catch {
                errors.append(error)
            }
        }
        throw .responseDecodingFailed.with(
            message: "none of the \(errors.count) decoders accepted the body", response: self,
            underlying: CompoundDecodingError(errors: errors))
    }
}

/// The `underlyingError` if every decoder of ``Response/decodeFirst(of:)`` failed.
public struct CompoundDecodingError: Error {
    /// The error of each decoder, in order.
    public let errors: [any Error]
}

extension Response {
    /// The body as any JSON value, a scalar included. An empty body and a single space, which Rails sends for
    /// `head :ok`, are `null`. Throws ``ErrandError/responseDecodingFailed`` for a body that is not JSON, or is nested
    /// deeper than 512 levels; the `underlyingError` is a `DecodingError`.
    public func json() throws(ErrandError) -> JSONValue {
        if isBlank { return .null }
        return try decode(JSONValue.self)
    }
}
