import Errand
import Foundation

/// The files, the requests chosen from them, and the variables.
struct HTTPFileSelection: Sendable {
    var files: [String]
    var only: [String] = []
    /// The variables of the command line, which override all others.
    var variables: [String: String] = [:]
    var environmentFiles: [String] = []
    var environment: String?
    /// The first row of a load test's data, by column. The columns are variables.
    var row: [String: String] = [:]
    var settings = HTTPFileSettings()
}

/// The requests to be run from the files. Everything that can be checked is checked before the first request is sent.
struct HTTPFilePlan: Sendable {
    enum Order: Sendable {
        case together
        case sequential
        /// A load test sends one of the requests at a time, chosen by weight.
        case mixed
    }

    /// A request and the file that contains it.
    struct Planned: Sendable {
        let request: HTTPFileRequest
        /// The maker of the request's file, with the variables of that file.
        let maker: HTTPRequestMaker

        var file: String { maker.variables.path }
        var label: String { request.label }
    }

    let requests: [Planned]
    /// Whether the requests come from several files, so that a name alone may be ambiguous.
    let hasFiles: Bool
    let order: Order

    init(_ arguments: HTTPFileArguments, order: Order) throws {
        try self.init(arguments.selection(), order: order)
    }

    /// `order`: `nil` means the order of a load test, which is ``Order/mixed`` if a request has a weight.
    init(_ selection: HTTPFileSelection, order given: Order?) throws {
        let locations = try HTTPFileSearch.locations(selection.files)
        let files = try locations.map { try HTTPFilePlan.read($0, selection) }
        requests = try HTTPFilePlan.chosen(files, selection.only)
        let isMixed = requests.contains { $0.request.options.weight != nil }
        let order = given ?? (isMixed ? .mixed : .sequential)
        self.order = order
        let paths = requests.map(\.file)
        hasFiles = paths.contains { $0 != paths[0] }
        for file in files {
            let chosen = requests.filter { $0.maker.variables === file.maker.variables }.map(\.request)
            do {
                try HTTPFileCheck(all: file.requests, chosen: chosen, maker: file.maker, order: order).run()
            } catch let error as HTTPFileError {
                throw ToolError(error.inFile(file.maker.variables.path))
            }
        }
    }

    /// Requests that do not come from a `.http` file, as a mix.
    init(_ requests: [HTTPFileRequest], maker: HTTPRequestMaker) throws {
        self.requests = requests.map { Planned(request: $0, maker: maker) }
        hasFiles = false
        order = .mixed
        do {
            try HTTPFileCheck(all: requests, chosen: requests, maker: maker, order: .mixed).run()
        } catch let error as HTTPFileError {
            throw ToolError(error.inFile(maker.variables.path))
        }
    }

    private struct Content {
        let requests: [HTTPFileRequest]
        let maker: HTTPRequestMaker
    }

    private static func read(_ location: HTTPFileLocation, _ selection: HTTPFileSelection) throws -> Content {
        let path = location.path
        let body = location.origin == .standardInput ? BodyArgument.standardInput : .file(path)
        let file: HTTPFile
        let environment = try environment(selection, location)
        do {
            let bytes = [UInt8](try body.load())
            file = try location.isHAR ? HARRequests.file(bytes) : HTTPFileParser.parse(bytes)
        } catch let error as HTTPFileError {
            throw ToolError(error.inFile(path))
        }
        for warning in file.warnings {
            StandardError.print(
                "errand: warning: \(path):\(warning.position.line):\(warning.position.column): \(warning.text)")
        }
        if file.requests.isEmpty {
            guard location.origin == .found else { throw ToolError(.inputData, "\(path): the file has no request") }
            StandardError.print("errand: warning: \(path): the file has no request")
        }
        let dotenv = try? String(contentsOfFile: location.folder + "/.env", encoding: .utf8)
        let variables = HTTPVariables(
            path: path,
            given: selection.variables, row: selection.row,
            file: file.variables, environment: environment, process: ProcessInfo.processInfo.environment,
            dotenv: dotenv.map(DotenvFile.parse) ?? [:])
        let maker = HTTPRequestMaker(variables: variables, folder: location.folder, settings: selection.settings)
        return Content(requests: file.requests, maker: maker)
    }

    private static func chosen(_ files: [Content], _ names: [String]) throws(ToolError) -> [Planned] {
        let all = files.flatMap { file in file.requests.map { Planned(request: $0, maker: file.maker) } }
        guard !all.isEmpty else { throw ToolError(.inputData, "the files have no request") }
        guard !names.isEmpty else { return all }
        for name in names where !all.contains(where: { $0.request.answers(to: name) }) {
            let place = files.count == 1 ? "'\(files[0].maker.variables.path)'" : "these \(files.count) files"
            throw ToolError(.usage, "--only: no request is named '\(name)' in \(place)")
        }
        return all.filter { planned in names.contains { planned.request.answers(to: $0) } }
    }

    private static func environment(
        _ selection: HTTPFileSelection, _ location: HTTPFileLocation
    ) throws(ToolError) -> HTTPEnvironment {
        var environment = HTTPEnvironment()
        var files = selection.environmentFiles
        if files.isEmpty {
            guard selection.environment != nil else { return environment }
            let candidates = location.environmentFolders.map { folder in
                ["http-client.env.json", "http-client.private.env.json"].map { folder + "/" + $0 }
                    .filter { FileManager.default.fileExists(atPath: $0) }
            }
            files = candidates.first { !$0.isEmpty } ?? []
            guard !files.isEmpty else {
                throw ToolError(
                    .inputFile, "--env: '\(location.folder)' has no http-client.env.json; see --env-file")
            }
        }
        for file in files {
            let bytes = [UInt8](try BodyArgument.file(file).load())
            do {
                try environment.add(bytes, name: selection.environment)
            } catch {
                throw ToolError(error.inFile(file))
            }
        }
        if let name = selection.environment, !environment.names.contains(name) {
            let names = environment.names.sorted().joined(separator: ", ")
            throw ToolError(.usage, "--env: the environment '\(name)' does not exist; available: \(names)")
        }
        return environment
    }

    /// All commands at once. Throws the error of the first request that cannot be made.
    func commands() throws -> [HTTPFileCommand] {
        do {
            return try requests.map { try $0.maker.make($0.request) }
        } catch let error as HTTPFileError {
            throw ToolError(error)
        }
    }
}
