import Errand
import HTTPTypes

/// The command of a walk's transfers.
struct ClientWalkAsk: Command {
    var path: String
    var method = HTTPRequest.Method.get
    var body = RequestBody.empty
    var cache: CachePolicy?
    var options: CommandOptions = []
    var timeouts: Timeouts?
    var priority = Priority.normal
    var resilience: RequestResilience?
    var interceptors: [any Interceptor] = []
    /// Whether a group runs the command.
    var isChild = false
    /// Whether the response is streamed.
    var isStream = false
    typealias Response = Errand.Response
}
