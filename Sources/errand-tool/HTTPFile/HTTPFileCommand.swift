import Errand
import HTTPTypes

/// A request of a `.http` file with everything put in.
struct HTTPFileCommand: Command {
    typealias Response = Errand.Response

    var method: HTTPRequest.Method
    var url: String
    var headers: HTTPFields
    var body: RequestBody
    /// `nil`: it is a file, and not held.
    var bodyBytes: [UInt8]?
    var authorization: Authorization?
    var timeouts: Timeouts?
    var limits: Limits?
    var connection: ConnectionOptions?
    var redirects: RedirectPolicy?
    var options: CommandOptions
    var acceptedStatusCodes: StatusCodes

    var path: String { url }

    /// What later requests may refer to.
    func exchange(_ response: Errand.Response?) -> HTTPExchange {
        HTTPExchange(headers: headers, body: bodyBytes, response: response)
    }
}
