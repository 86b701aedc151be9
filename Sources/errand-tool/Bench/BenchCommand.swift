import Errand
import HTTPTypes

/// What the Swift modes run: no larger than a service's own commands are.
struct BenchCommand: Command {
    let method: HTTPRequest.Method
    let path: String
    let body: RequestBody
    let cache: CachePolicy?

    /// Every status is counted, none is an error.
    var acceptedStatusCodes: StatusCodes { .any }
}
