package import HTTPTypes

/// Combines a given `Content-Type` with a multipart body, which cannot be read without the boundary (RFC 2046 5.1.1).
package enum MultipartType {
    /// Adds `boundary`, already quoted where necessary, to a multipart type that has none. A default of another type is
    /// replaced by the body's own type. If the request's own field has another type, throws
    /// ``ErrandError/invalidHeader``.
    package static func give(
        _ boundary: String, to own: inout HTTPFields, _ defaults: inout HTTPFields
    ) throws(ErrandError) {
        if let type = own[.contentType] {
            guard let complete = type.completed(by: boundary) else {
                throw ErrandError.invalidHeader.with(
                    message: "the body is multipart with the boundary \(boundary), but the Content-Type is "
                        + "\(type.debugDescription)")
            }
            own[.contentType] = complete
        } else if let type = defaults[.contentType] {
            defaults[.contentType] = type.completed(by: boundary)
        }
    }
}

extension String {
    /// `nil` if this is not a multipart type, or has another boundary.
    fileprivate func completed(by boundary: String) -> String? {
        let type = lowercased()
        guard type.hasPrefix("multipart/") else { return nil }
        for parameter in split(separator: ";").dropFirst() {
            let parts = parameter.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, parts[0].trimmed.lowercased() == "boundary" else { continue }
            return parts[1].trimmed.unquoted == Substring(boundary).unquoted ? self : nil
        }
        return self + "; boundary=" + boundary
    }
}

extension Substring {
    fileprivate var trimmed: Substring {
        let start = drop { $0 == " " || $0 == "\t" }
        return start.lastIndex { $0 != " " && $0 != "\t" }.map { start[...$0] } ?? ""
    }

    fileprivate var unquoted: Substring {
        count >= 2 && first == "\"" && last == "\"" ? dropFirst().dropLast() : self
    }
}
