public import FoundationEssentials

extension Response {
    /// The body read as JSON: UTF-8 (RFC 8259 8.1), UTF-16 or UTF-32, and where it is none of these and `Content-Type`
    /// names another charset, that one. An empty body, or one of a single space, is `nil` where the type is an optional,
    /// as a command's whose server says 204 may be.
    ///
    /// `decoder` defaults to that of the request: ``RequestOverrides/Members/jsonDecoder``, else ``Command/jsonDecoder``, else
    /// ``Client/Settings/jsonDecoder``; for a response that came for no request it is one with Foundation's own settings. Throws ``ErrandError/responseDecodingFailed`` with Foundation's error beneath it.
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

    /// The body read as a property list in the XML or the OpenStep form, in UTF-8 and of 512 levels at most (AFNetworking
    /// `AFPropertyListResponseSerializer`). A binary one is refused: Foundation's reader of those traps on what is
    /// malformed. So are a date of 32 bytes or more and markup that readers differ in. `decoder` defaults to one with Foundation's own settings. Throws ``ErrandError/responseDecodingFailed``
    /// with Foundation's error beneath it.
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

    /// A parser's words about an empty body are about its grammar: they help nobody.
    func undecodable(_ wanted: String, _ error: any Error) -> ErrandError {
        let message =
            body.isEmpty
            ? "the body is empty, where a \(wanted) was to be decoded" : "the body is not a \(wanted): \(error)"
        return .responseDecodingFailed.with(message: message, response: self, underlying: error)
    }

    /// What the first of the decoders makes that does not throw (AFNetworking `AFCompoundResponseSerializer`):
    ///
    /// ```swift
    /// try response.decodeFirst(of: [
    ///     { try $0.decode(Answer.self) },
    ///     { try $0.decodePropertyList(Answer.self) },
    /// ])
    /// ```
    ///
    /// They are called in order, where this is. Throws ``ErrandError/responseDecodingFailed`` with a
    /// ``CompoundDecodingError`` beneath it that holds what each of them threw.
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
            message: "none of \(errors.count) decoders took the body", response: self,
            underlying: CompoundDecodingError(errors: errors))
    }
}

/// What lies under the failure of ``Response/decodeFirst(of:)``.
public struct CompoundDecodingError: Error {
    /// What each decoder threw, in their order.
    public let errors: [any Error]
}
