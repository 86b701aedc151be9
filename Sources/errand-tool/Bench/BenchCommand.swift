import Errand
import HTTPTypes

/// What the Swift modes run: no larger than a service's own commands are.
struct BenchCommand: Command {
    let method: HTTPRequest.Method
    let path: String
    let body: RequestBody
    let cache: CachePolicy?

    /// A body is counted and dropped: an endless one takes no memory. A cache needs it.
    var options: CommandOptions { cache == nil ? .discardsBody : [] }

    /// Every status is counted, none is an error.
    var acceptedStatusCodes: StatusCodes { .any }
}
