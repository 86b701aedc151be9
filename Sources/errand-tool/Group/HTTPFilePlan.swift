import Errand
import Foundation

/// The requests of a file that are to be run, with everything checked that can be before the first is sent.
struct HTTPFilePlan: Sendable {
    enum Order: Sendable {
        case together
        case oneAfterAnother
    }

    let requests: [HTTPFileRequest]
    let maker: HTTPRequestMaker

    init(_ arguments: HTTPFileArguments, order: Order) throws {
        let isInput = arguments.file == "-"
        let path = isInput ? "standard input" : arguments.file
        let folder = isInput ? "." : HTTPFilePlan.folder(of: path)
        let body = isInput ? BodyArgument.standardInput : .file(path)
        let file: HTTPFile
        let environment = try HTTPFilePlan.environment(arguments, folder: folder)
        do {
            file = try HTTPFileParser.parse([UInt8](try body.load()))
        } catch let error as HTTPFileError {
            throw ToolError(error.inFile(path))
        }
        for warning in file.warnings {
            StandardError.print(
                "errand: warning: \(path):\(warning.position.line):\(warning.position.column): \(warning.text)")
        }
        let variables = HTTPVariables(
            path: path,
            given: Dictionary(arguments.variable.map { ($0.name, $0.value) }) { _, last in last },
            file: file.variables, environment: environment, process: ProcessInfo.processInfo.environment,
            dotenv: (try? String(contentsOfFile: folder + "/.env", encoding: .utf8)).map(DotenvFile.parse) ?? [:])
        requests = try HTTPFilePlan.chosen(file.requests, arguments.only, path)
        maker = HTTPRequestMaker(variables: variables, folder: folder, settings: try arguments.settings())
        do {
            try HTTPFileCheck(all: file.requests, chosen: requests, maker: maker, order: order).run()
        } catch let error as HTTPFileError {
            throw ToolError(error.inFile(path))
        }
    }

    private static func folder(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    private static func chosen(
        _ requests: [HTTPFileRequest], _ names: [String], _ path: String
    ) throws(ToolError) -> [HTTPFileRequest] {
        guard !requests.isEmpty else { throw ToolError(.inputData, "\(path): there is no request in it") }
        guard !names.isEmpty else { return requests }
        for name in names where !requests.contains(where: { $0.answers(to: name) }) {
            throw ToolError(.usage, "--only: there is no request named '\(name)' in '\(path)'")
        }
        return requests.filter { request in names.contains { request.answers(to: $0) } }
    }

    private static func environment(
        _ arguments: HTTPFileArguments, folder: String
    ) throws(ToolError) -> HTTPEnvironment {
        var environment = HTTPEnvironment()
        var files = arguments.envFile
        if files.isEmpty {
            guard arguments.env != nil else { return environment }
            files = ["http-client.env.json", "http-client.private.env.json"].map { folder + "/" + $0 }
                .filter { FileManager.default.fileExists(atPath: $0) }
            guard !files.isEmpty else {
                throw ToolError(.inputFile, "--env: there is no http-client.env.json in '\(folder)'; see --env-file")
            }
        }
        for file in files {
            let bytes = [UInt8](try BodyArgument.file(file).load())
            do {
                try environment.add(bytes, name: arguments.env)
            } catch {
                throw ToolError(error.inFile(file))
            }
        }
        if let name = arguments.env, !environment.names.contains(name) {
            let names = environment.names.sorted().joined(separator: ", ")
            throw ToolError(.usage, "--env: there is no environment '\(name)'; there are: \(names)")
        }
        return environment
    }

    /// All commands at once, or what is wrong with the first that cannot be made.
    func commands() throws -> [HTTPFileCommand] {
        do {
            return try requests.map { try maker.make($0) }
        } catch let error as HTTPFileError {
            throw ToolError(error)
        }
    }
}
