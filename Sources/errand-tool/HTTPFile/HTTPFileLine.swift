import Errand
import HTTPTypes

/// One line of a `.http` file.
struct HTTPFileLine {
    let text: Substring
    let number: Int

    func position(of part: Substring) -> FilePosition {
        FilePosition(line: number, column: text.column(of: part))
    }

    /// The text after `#` or `//`; `nil`: the line is not a comment.
    var comment: Substring? {
        let text = text.trimmed
        // Compared by bytes, because a combining mark after the `#` would form a different character with it.
        for mark in ["#", "//"] where text.utf8.starts(with: mark.utf8) {
            return Substring(text.utf8.drop { $0 == mark.utf8.first }).trimmed
        }
        return nil
    }

    /// `<> file`: a reference to an earlier response, written by JetBrains' client.
    var isResponseReference: Bool { text.hasPrefix("<> ") }

    /// `?? status == 404`, an assertion of httpYac; `nil`: the line is not an assertion.
    func expectation() throws(HTTPFileError) -> HTTPExpectation? {
        guard text.hasPrefix("??") else { return nil }
        let rest = text.dropFirst("??".count)
        guard rest.first.map({ $0 == " " || $0 == "\t" }) ?? true else { return nil }
        guard !rest.isBlank else {
            throw HTTPFileError(position(of: text), "'??' requires an expectation, such as '?? status == 404'")
        }
        return try HTTPExpectation(rest.trimmed, at: position(of: rest.trimmed))
    }

    /// `@name = value`.
    func variable() throws(HTTPFileError) -> HTTPFile.Variable {
        let text = text.trimmed
        let place = position(of: text)
        guard let mark = text.utf8.firstIndex(of: UInt8(ascii: "=")) else {
            throw HTTPFileError(place, "the variable has no '=', expected '@name = value'")
        }
        let name = text[..<mark].dropFirst().trimmed
        guard HTTPPlaceholder.isName(name) else {
            throw HTTPFileError(place, "'\(name)' is not the name of a variable")
        }
        let value = text[text.utf8.index(after: mark)...].trimmed
        return HTTPFile.Variable(
            name: String(name), value: try HTTPTemplate(value, at: position(of: value)), position: place)
    }

    /// A script of JetBrains' client.
    struct Script {
        let name: String
        let position: FilePosition
        /// Whether the script continues on the next line, up to `%}`.
        let isOpen: Bool
    }

    /// A line that runs code. Throws for a line that writes a file.
    func script() throws(HTTPFileError) -> Script? {
        let place = position(of: text.trimmed)
        let words = text.split(separator: " ", maxSplits: 1)
        let mark = words.first ?? ""
        let rest = words.count > 1 ? words[1].trimmed : ""
        switch mark {
        case "<" where rest.hasPrefix("{%"), "<{%":
            return Script(name: "the script before the request ('< {%')", position: place, isOpen: !text.contains("%}"))
        case ">" where rest.hasPrefix("{%"), ">{%":
            return Script(name: "the response handler script ('> {%')", position: place, isOpen: !text.contains("%}"))
        case ">" where rest.hasSuffix(".js"):
            return Script(name: "the response handler script ('> \(rest)')", position: place, isOpen: false)
        case ">>" where !rest.isEmpty, ">>!" where !rest.isEmpty:
            throw HTTPFileError(place, "saving a response ('\(mark)') is not supported")
        default:
            return nil
        }
    }
}

extension HTTPFileLine {
    private static let known: Set<String> = [
        "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT",
    ]
    private static let otherProtocols: Set<String> = ["GRAPHQL", "GRPC", "WEBSOCKET", "RSOCKET"]

    /// The method of a request line, and the rest of the line. A URL alone is a GET.
    func method() throws(HTTPFileError) -> (method: String, rest: Substring) {
        let line = text.trimmed
        let place = position(of: line)
        let word = line.prefix { $0 != " " && $0 != "\t" }
        let rest = line[word.endIndex...].trimmed
        guard !word.hasPrefix("HTTP/") else {
            throw HTTPFileError(place, "the line begins a response, expected a request")
        }
        guard word.utf8.allSatisfy({ $0 == UInt8(ascii: "-") || (0x41...0x5A).contains($0 & 0xDF) }) else {
            return ("GET", line)
        }
        let method = word.uppercased()
        guard !HTTPFileLine.otherProtocols.contains(method) else {
            throw HTTPFileError(place, "\(method) requests are not supported")
        }
        guard word == method || HTTPFileLine.known.contains(method) else {
            throw HTTPFileError(place, "'\(word)' is neither a method nor a URL, expected a request line")
        }
        guard !rest.isEmpty else { throw HTTPFileError(place, "'\(word)' requires a URL after it") }
        return (method, rest)
    }

    /// A URL, or a part of one, with the optional HTTP version after it.
    func url(
        _ text: Substring
    ) throws(HTTPFileError) -> (url: HTTPTemplate, version: ConnectionOptions.HTTPVersionPolicy?) {
        let prior = " (Prior Knowledge)"
        let isPrior = text.hasSuffix(prior)
        let line = isPrior ? text.dropLast(prior.count).trimmed : text
        let blank = line.lastIndex { $0 == " " || $0 == "\t" }
        let last = blank.map { line[line.index(after: $0)...] } ?? ""
        guard last.hasPrefix("HTTP/") else { return (try urlTemplate(text), nil) }
        let version: ConnectionOptions.HTTPVersionPolicy
        switch last.dropFirst("HTTP/".count) {
        case "1.1" where !isPrior: version = .http1
        case "2" where !isPrior, "2.0" where !isPrior: version = .http2OverTLS
        case "2" where isPrior, "2.0" where isPrior: version = .http2PriorKnowledge
        default:
            throw HTTPFileError(
                position(of: last), "'\(last)' is not supported, expected HTTP/1.1, HTTP/2 or HTTP/2 (Prior Knowledge)")
        }
        return (try urlTemplate(line[..<last.startIndex].trimmed), version)
    }

    private func urlTemplate(_ text: Substring) throws(HTTPFileError) -> HTTPTemplate {
        let url = try HTTPTemplate(text, at: position(of: text))
        for case .text(let part) in url.parts where part.utf8.contains(where: { $0 == 0x20 || $0 == 0x09 }) {
            throw HTTPFileError(url.position, "the URL contains a space; write '%20' for a space")
        }
        return url
    }

    /// `Name: value`.
    func field() throws(HTTPFileError) -> HTTPFileRequest.Field {
        let place = position(of: text.trimmed)
        let colon = text.utf8.firstIndex(of: UInt8(ascii: ":"))
        guard let colon, let name = HTTPField.Name(String(text[..<colon])) else {
            let hint = text.hasPrefix("<") ? "; the body requires a blank line before it" : ""
            throw HTTPFileError(place, "the line is not a header field, expected 'Name: value'\(hint)")
        }
        let value = text[text.utf8.index(after: colon)...].trimmed
        if name.canonicalName == "x-request-type", value.lowercased() == "graphql" {
            throw HTTPFileError(place, "GraphQL requests are not supported")
        }
        return HTTPFileRequest.Field(
            name: name.rawName, value: try HTTPTemplate(value, at: position(of: value)), position: place)
    }

    /// `< path`, `<@ path`, `<@latin1 path`; `nil`: the line is text.
    func bodyFile() throws(HTTPFileError) -> HTTPBodyFile? {
        guard text.hasPrefix("<") else { return nil }
        let mark = text.prefix { $0 != " " && $0 != "\t" }
        let path = text[mark.endIndex...].trimmed
        let label = mark.dropFirst(2)
        guard mark == "<" || (mark.hasPrefix("<@") && label.allSatisfy { $0.isLetter || $0.isNumber || $0 == "-" }),
            !path.isEmpty
        else { return nil }
        let place = position(of: text)
        let encoding = mark == "<" ? nil : HTTPFileEncoding(label: label)
        guard mark == "<" || encoding != nil else {
            throw HTTPFileError(place, "the encoding '\(label)' is not supported, expected utf8 or latin1")
        }
        return HTTPBodyFile(path: try HTTPTemplate(path, at: position(of: path)), encoding: encoding, position: place)
    }
}
