/// Where ``Command/parameters`` go, for any method (YTKNetwork `requestSerializerType`).
///
/// In a body they exclude a body of the command's own, which is ``ErrandError/invalidBody``; but before the parts of a
/// multipart body they become parts themselves, whatever the encoding of a body is.
public enum ParameterEncoding: Sendable, Hashable {
    /// In the query for GET, HEAD and DELETE, as a form otherwise; both by ``Client/Settings/queryStyle``.
    case automatic
    /// In the URL's query, behind what is there. `nil`: by ``Client/Settings/queryStyle``.
    case query(QueryStyle?)
    /// As `application/x-www-form-urlencoded`. The body and its type are sent where there are no values, too. `nil`: by
    /// ``Client/Settings/queryStyle``.
    case form(QueryStyle?)
    /// As a JSON object, in the order of the values.
    case json

    /// ``query(_:)`` by the client's style.
    public static let query = ParameterEncoding.query(nil)
    /// ``form(_:)`` by the client's style.
    public static let form = ParameterEncoding.form(nil)
}
