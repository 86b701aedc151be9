import Errand
import Foundation
import HTTPTypes

/// Makes commands from the requests of a file. The variables have the values of the moment when a command is made.
///
/// Throws an ``HTTPFileError``, an `ErrandError`, or a ``ToolError`` for a file that cannot be read.
struct HTTPRequestMaker: Sendable {
    let variables: HTTPVariables
    /// The folder against which paths are resolved.
    let folder: String
    let settings: HTTPFileSettings

    func make(_ request: HTTPFileRequest) throws -> HTTPFileCommand {
        do {
            return try command(request)
        } catch let error as HTTPFileError {
            throw error.inFile(variables.path)
        }
    }

    private func command(_ request: HTTPFileRequest) throws -> HTTPFileCommand {
        guard let method = HTTPRequest.Method(rawValue: request.method) else {
            throw HTTPFileError(request.position, "'\(request.method)' is not an HTTP method")
        }
        var fields = HTTPFields()
        var host: String?
        var authorization: Authorization?
        for field in request.fields {
            let value = try variables.expand(field.value)
            switch field.name.lowercased() {
            // The engine sets the length of the body that it sends.
            case "content-length": break
            case "host" where request.url.source.hasPrefix("/"): host = value
            case "authorization":
                authorization = try HTTPRequestMaker.authorization(value, at: field.position)
                if authorization == nil { fallthrough }
            default:
                do {
                    fields.append(try HTTPField.checked(name: field.name, value: value))
                } catch {
                    throw HTTPFileError(field.position, error.message)
                }
            }
        }
        let checks = try request.options.expectations.map { try check($0) }
        let body = try HTTPBodyMaker(variables: variables, folder: folder, contentType: fields[.contentType])
            .make(request.body)
        if fields[.userAgent] == nil { fields[.userAgent] = "errand" }
        if fields[.accept] == nil { fields[.accept] = "*/*" }
        var connection = settings.connection
        if let version = request.version { connection.httpVersion = version }
        // If the file sets Accept-Encoding itself, the response is not decoded.
        if fields[.acceptEncoding] != nil { connection.encodings = [] }
        return HTTPFileCommand(
            method: method, url: try url(request, host: host), headers: fields, body: body.body,
            bodyBytes: body.bytes, authorization: authorization,
            timeouts: timeouts(request.options),
            limits: Limits(bodyBytes: settings.bodyLimit, decodedBytes: settings.bodyLimit),
            connection: connection, redirects: request.options.followsRedirects ? .follow : .doNotFollow,
            options: request.options.usesCookies ? [] : .withoutCookies,
            acceptedStatusCodes: checks.contains(where: \.isOfStatus)
                ? .any : request.options.followsRedirects ? .successful : .in(200...399),
            checks: checks, holdsResponse: settings.holdsResponses)
    }

    private func check(_ expectation: HTTPExpectation) throws(HTTPFileError) -> HTTPResponseCheck {
        let value = try expectation.value.map { template throws(HTTPFileError) in try variables.expand(template) }
        guard let check = HTTPResponseCheck(expectation, value: value) else {
            throw HTTPFileError(expectation.position, "the value of the variables is not valid in this expectation")
        }
        return check
    }

    private func timeouts(_ said: HTTPFileRequest.Options) -> Timeouts {
        var timeouts = settings.timeouts
        if let connect = said.connectTimeout { timeouts.connect = .after(connect) }
        if let idle = said.idleTimeout { timeouts.idle = .after(idle) }
        return timeouts
    }

    private func url(_ request: HTTPFileRequest, host: String?) throws(HTTPFileError) -> String {
        let url = try variables.expand(request.url)
        if url.hasPrefix("/") {
            guard let host else {
                throw HTTPFileError(
                    request.url.position, "the URL has no host and requires the header 'Host' with a value")
            }
            // The scheme is chosen as in the VS Code client.
            let isSecure = host.hasSuffix(":443") || host.hasSuffix(":8443")
            return (isSecure ? "https://" : "http://") + host + url
        }
        return url.contains("://") ? url : "http://" + url
    }

    /// `Basic user password`, `Basic user:password` and `Digest user password`, as in both editors. `nil`: the value is
    /// sent unchanged.
    private static func authorization(_ value: String, at position: FilePosition) throws(HTTPFileError)
        -> Authorization?
    {
        let words = value.split(separator: " ", maxSplits: 2).map(String.init)
        guard let scheme = words.first?.lowercased() else { return nil }
        switch scheme {
        case "basic" where words.count == 3:
            return .basic(username: words[1], password: words[2])
        case "basic" where words.count == 2:
            // Base64 text contains no colon.
            guard let colon = words[1].firstIndex(of: ":") else { return nil }
            let password = words[1][words[1].index(after: colon)...]
            return .basic(username: String(words[1][..<colon]), password: String(password))
        case "digest" where words.count == 3 && !words[2].contains("="):
            return .digest(username: words[1], password: words[2])
        case "aws", "cognito", "ntlm":
            throw HTTPFileError(position, "'\(words[0])' authorization is not supported")
        default:
            return nil
        }
    }
}

/// The settings of the command line for all requests of a file.
struct HTTPFileSettings: Sendable {
    var connection = ConnectionOptions()
    var timeouts = Timeouts()
    /// The limit of a response's body in bytes; `nil`: the library's default.
    var bodyLimit: Int?
    /// Set by `-v`.
    var holdsResponses = false
}
