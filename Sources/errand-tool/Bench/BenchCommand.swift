import Errand
import HTTPTypes

/// The command of the Swift modes, which is no larger than the commands of a service.
struct BenchCommand: Command {
    let method: HTTPRequest.Method
    let path: String
    let body: RequestBody
    let cache: CachePolicy?

    /// Without a cache the body is counted and dropped, so that an endless body takes no memory. A cache needs the
    /// body.
    var options: CommandOptions { cache == nil ? .discardsBody : [] }

    /// Every status is counted; none is an error.
    var acceptedStatusCodes: StatusCodes { .any }
}
