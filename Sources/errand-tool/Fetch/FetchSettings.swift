import Errand
import Foundation
import HTTPTypes

/// What all URLs of one `errand fetch` have in common.
struct FetchSettings: Sendable {
    var method: HTTPRequest.Method
    var headers: HTTPFields
    var body: RequestBody
    var hasBody: Bool
    var timeouts: Timeouts
    /// Bytes of one response's body, on the wire and decoded; `nil`: 64 MiB in memory, none in a file.
    var bodyLimit: Int?
    var connection: ConnectionOptions
    var followsRedirects: Bool
    var maxRedirects: Int
    /// A status of 400 or above is a failure.
    var failsOnStatus: Bool
    var parallel: Int

    func command(_ url: String) -> RawCommand {
        var command = RawCommand(method: method, url: url, headers: headers, body: body)
        command.timeouts = timeouts
        command.limits = Limits(bodyBytes: bodyLimit, decodedBytes: bodyLimit)
        return command
    }
}

/// One URL and where its body goes.
struct FetchJob: Sendable {
    enum Output: Sendable, Equatable {
        case standardOutput
        case file(String)
        /// `--json-output` without `-o`: nobody asked for the body.
        case none
    }

    let url: String
    let output: Output
}
