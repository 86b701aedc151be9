/// Where ``Command/parameters`` are sent, for any method (YTKNetwork `requestSerializerType`).
///
/// Parameters in the body exclude a body of the command's own: that is ``ErrandError/invalidBody``. A multipart body is
/// the exception: the parameters become parts before its parts, for every encoding that uses the body.
public enum ParameterEncoding: Sendable, Hashable {
    /// In the query for GET, HEAD and DELETE, otherwise as a form; both in ``Client/Settings/queryStyle``.
    case automatic
    /// In the URL's query, after the existing one. `nil`: in ``Client/Settings/queryStyle``.
    case query(QueryStyle?)
    /// As `application/x-www-form-urlencoded`. Body and type are also sent where there are no values. `nil`: in
    /// ``Client/Settings/queryStyle``.
    case form(QueryStyle?)
    /// As a JSON object, in the order of the values.
    case json

    /// ``query(_:)`` in the client's style.
    public static let query = ParameterEncoding.query(nil)
    /// ``form(_:)`` in the client's style.
    public static let form = ParameterEncoding.form(nil)
}
