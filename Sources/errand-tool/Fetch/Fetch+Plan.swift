import Errand
import Foundation
import HTTPTypes

extension Fetch {
    /// Assigns an output to each URL.
    func jobs() throws(ToolError) -> [FetchJob] {
        guard output.count <= urls.count else {
            throw ToolError(.usage, "-o is given \(output.count) times for \(urls.count) URLs")
        }
        let files = output.filter { $0 != "-" }.map(OutputFile.resolved)
        guard Set(files).count == files.count else {
            throw ToolError(.usage, "-o names the same file twice")
        }
        guard !(jsonOutput && output.contains("-")) else {
            throw ToolError(.usage, "--json-output writes to standard output and cannot be used with -o -")
        }
        return urls.enumerated().map { index, url in
            guard index < output.count else {
                return FetchJob(url, jsonOutput ? .none : .standardOutput(isNamed: false))
            }
            return FetchJob(url, output[index] == "-" ? .standardOutput(isNamed: true) : .file(output[index]))
        }
    }

    /// Checks all options; each mistake has its own message.
    func settings(_ jobs: [FetchJob]) throws -> FetchSettings {
        guard (1...1000).contains(parallel) else {
            throw ToolError(.usage, "--parallel is \(parallel), expected 1 to 1,000")
        }
        guard (0...100).contains(maxRedirects) else {
            throw ToolError(.usage, "--max-redirects is \(maxRedirects), expected 0 to 100")
        }
        let body = try body()
        let name = method ?? (head ? "HEAD" : uploadFile != nil ? "PUT" : body == nil ? "GET" : "POST")
        guard let parsed = HTTPRequest.Method(rawValue: name) else {
            throw ErrandError.invalidMethod.with(message: "\(name.debugDescription) is not an HTTP method; see -X")
        }
        var settings = FetchSettings(
            method: parsed, headers: try fields(), body: body ?? .empty, timeouts: transfer.timeouts,
            bodyLimit: maxBody?.bytes, connection: try transfer.connection(), followsRedirects: location,
            maxRedirects: maxRedirects, refused: fail ? .errors : .none, parallel: parallel)
        settings.uploadName = uploadFile.flatMap { $0 == "-" ? nil : $0.split(separator: "/").last.map(String.init) }
        settings.user = user
        settings.usesDigest = digest
        settings.isVerbose = verbose
        settings.cookies = cookieFiles
        settings.retry = try retries.policy(timeout: transfer.timeout?.duration, fails: fail)
        // As with curl, the time limit applies to an attempt. The retry policy has it.
        if settings.retry != nil { settings.timeouts.total = nil }
        if digest, user == nil, !jobs.contains(where: { $0.user != nil }) {
            throw ToolError(.usage, "--digest requires -u USER:PASSWORD or a URL with a user and a password")
        }
        return settings
    }

    private func fields() throws(ErrandError) -> HTTPFields {
        var fields = HTTPFields()
        for header in headers {
            fields.append(try HTTPField.checked(name: header.name, value: header.value))
        }
        // A request with its own Cookie field neither gets cookies from a jar nor stores any in it.
        if !cookiePairs.isEmpty, fields[.cookie] == nil, cookieFiles == nil {
            fields.append(try HTTPField.checked(name: "Cookie", value: cookiePairs.joined(separator: "; ")))
        }
        if fields[.userAgent] == nil { fields[.userAgent] = "errand" }
        if fields[.accept] == nil { fields[.accept] = json == nil ? "*/*" : "application/json" }
        return fields
    }

    /// The values of `-b NAME=VALUE`; one value may hold several cookies.
    private var cookiePairs: [String] { cookies.filter { $0.contains("=") } }

    /// `nil`: cookies are neither read from a file nor kept.
    private var cookieFiles: CookieFiles? {
        let sources = cookies.filter { !$0.contains("=") }
        guard !sources.isEmpty || cookieJar != nil else { return nil }
        let isOwn = headers.contains { $0.name.lowercased() == "cookie" }
        return CookieFiles(sources: sources, pairs: isOwn ? [] : cookiePairs, destination: cookieJar)
    }

    private func body() throws(ToolError) -> RequestBody? {
        let given = [
            ("-d", !data.isEmpty), ("--json", json != nil), ("-F", !form.isEmpty), ("-T", uploadFile != nil),
        ].filter(\.1).map(\.0)
        guard given.count <= 1 else {
            throw ToolError(.usage, "\(given.joined(separator: " and ")) each set a body; only one can be sent")
        }
        if head, let first = given.first {
            throw ToolError(.usage, "-I requests only the head and cannot be used with \(first), which sets a body")
        }
        if let json { return try BodyArgument(json).json() }
        if !form.isEmpty {
            var parts: [MultipartPart] = []
            for argument in form { parts.append(try FormArgument(argument).part) }
            return .multipart(parts)
        }
        if let uploadFile {
            return try BodyArgument(uploadFile == "-" ? "@-" : "@" + uploadFile).body(contentType: nil)
        }
        guard !data.isEmpty else { return nil }
        return try BodyArgument.body(joining: data, contentType: "application/x-www-form-urlencoded")
    }
}
