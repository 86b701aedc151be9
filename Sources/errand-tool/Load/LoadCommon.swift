import Errand
import ErrandLoad
import Foundation
import HTTPTypes

/// The settings of the command line that all scenarios of a load test share.
struct LoadCommon: Sendable {
    /// The connection settings, timeouts and resilience.
    var configuration: Client.Configuration
    /// The seed of the command line; `nil`: the plan's seed.
    var seed: UInt64?
    /// Variables of the command line, which override those of a plan.
    var variables: [String: String] = [:]

    /// The same settings for requests of `.http` files.
    var settings: HTTPFileSettings {
        HTTPFileSettings(connection: configuration.connection, timeouts: configuration.timeouts)
    }

    /// The name of a URL in reports: without secrets, query and fragment.
    static func name(of url: String) -> String {
        String(Shown.url(url).prefix { $0 != "?" && $0 != "#" })
    }

    /// The name of a file without folder and ending.
    static func stem(_ path: String) -> String {
        let name = path.split(separator: "/").last.map(String.init) ?? path
        guard let dot = name.lastIndex(of: "."), dot != name.startIndex else { return name }
        return String(name[..<dot])
    }
}

/// A request without variables. Its body is counted and dropped.
struct LoadCommand: Command {
    let method: HTTPRequest.Method
    let path: String
    let headers: HTTPFields
    let body: RequestBody

    /// The scenario counts statuses of 400 and above as errors.
    var acceptedStatusCodes: StatusCodes { .any }
}

/// A request of a file that has no variables, and no expectations except for its status.
struct LoadFileCommand: Command {
    private let command: HTTPFileCommand

    init(_ command: HTTPFileCommand) {
        self.command = command
    }

    var method: HTTPRequest.Method { command.method }
    var path: String { command.path }
    var headers: HTTPFields { command.headers }
    var body: RequestBody { command.body }
    var authorization: Authorization? { command.authorization }
    var timeouts: Timeouts? { command.timeouts }
    var limits: Limits? { command.limits }
    var connection: ConnectionOptions? { command.connection }
    var redirects: RedirectPolicy? { command.redirects }
    var options: CommandOptions { command.options }
    var acceptedStatusCodes: StatusCodes { command.acceptedStatusCodes }
}
