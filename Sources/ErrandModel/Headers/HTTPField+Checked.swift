public import HTTPTypes

extension HTTPField {
    /// A field from unchecked text. Unlike `HTTPField(name:value:)` it refuses CR, LF and NUL instead of replacing
    /// them. Throws ``ErrandError/invalidHeader``.
    public static func checked(name: String, value: String) throws(ErrandError) -> HTTPField {
        guard let fieldName = HTTPField.Name(name) else {
            throw ErrandError.invalidHeader.with(
                message: "\(name.debugDescription) is not a valid header name", isRefusal: true)
        }
        guard !value.utf8.contains(where: { $0 == 0 || $0 == 0x0A || $0 == 0x0D }) else {
            throw ErrandError.invalidHeader.with(
                message: "the value of '\(name)' contains a CR, LF or NUL", isRefusal: true)
        }
        return HTTPField(name: fieldName, lenientValue: Array(value.utf8))
    }
}
