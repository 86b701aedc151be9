import Errand
import Foundation
import HTTPTypes

extension Fetch {
    /// Pairs URLs with outputs.
    func jobs() throws(ToolError) -> [FetchJob] {
        guard output.count <= urls.count else {
            throw ToolError(.usage, "-o is given \(output.count) times for \(urls.count) URLs")
        }
        let files = output.filter { $0 != "-" }.map(OutputFile.resolved)
        guard Set(files).count == files.count else {
            throw ToolError(.usage, "-o names the same file twice")
        }
        guard !(jsonOutput && output.contains("-")) else {
            throw ToolError(.usage, "--json-output takes standard output, so -o - cannot")
        }
        return urls.enumerated().map { index, url in
            guard index < output.count else {
                return FetchJob(url: url, output: jsonOutput ? .none : .standardOutput)
            }
            return FetchJob(url: url, output: output[index] == "-" ? .standardOutput : .file(output[index]))
        }
    }

    /// Checks everything that was said; each mistake has its own message.
    func settings() throws -> FetchSettings {
        guard (1...1000).contains(parallel) else {
            throw ToolError(.usage, "--parallel is 1 to 1,000, not \(parallel)")
        }
        guard (0...100).contains(maxRedirects) else {
            throw ToolError(.usage, "--max-redirects is 0 to 100, not \(maxRedirects)")
        }
        let body = try body()
        let name = method ?? (body == nil ? "GET" : "POST")
        guard let parsed = HTTPRequest.Method(rawValue: name) else {
            throw ErrandError.invalidMethod.with(message: "'\(name)' is not an HTTP method")
        }
        return FetchSettings(
            method: parsed, headers: try fields(), body: body ?? .none, hasBody: body != nil,
            timeouts: transfer.timeouts, bodyLimit: maxBody?.bytes, connection: transfer.connection,
            followsRedirects: location,
            maxRedirects: maxRedirects, failsOnStatus: fail, parallel: parallel)
    }

    private func fields() throws(ErrandError) -> HTTPFields {
        var fields = HTTPFields()
        for header in headers {
            fields.append(try HTTPField.checked(name: header.name, value: header.value))
        }
        if fields[.userAgent] == nil { fields[.userAgent] = "errand" }
        if fields[.accept] == nil { fields[.accept] = json == nil ? "*/*" : "application/json" }
        return fields
    }

    private func body() throws(ToolError) -> RequestBody? {
        guard data == nil || json == nil else {
            throw ToolError(.usage, "--data and --json both give a body")
        }
        if let json { return try BodyArgument(json).json() }
        guard let data else { return nil }
        return try BodyArgument(data).body(contentType: "application/x-www-form-urlencoded")
    }
}
