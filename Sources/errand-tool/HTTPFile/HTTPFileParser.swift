/// Parses the text of a `.http` file, without side effects and in linear time. Unsupported syntax is an error.
struct HTTPFileParser {
    private enum State {
        /// Before a request line: comments, variables, blank lines.
        case head
        /// After a request line: lines that continue the URL.
        case url
        case fields
        case body
    }

    /// Within a script block, which is skipped up to its `%}`.
    private var isInScript = false

    private var state = State.head
    private var file = HTTPFile()
    private var title: String?
    /// The settings that comments have made for the next request, and their positions.
    var name: (text: String, position: FilePosition)?
    var options: (value: HTTPFileRequest.Options, position: FilePosition)?
    private var request: HTTPFileRequest?
    private var names: [String: FilePosition] = [:]

    private init() {}

    static func parse(_ bytes: [UInt8]) throws(HTTPFileError) -> HTTPFile {
        try parse(try HTTPFileLines.text(bytes))
    }

    static func parse(_ text: String) throws(HTTPFileError) -> HTTPFile {
        var parser = HTTPFileParser()
        var number = 0
        for line in HTTPFileLines.split(text) {
            number += 1
            try parser.read(HTTPFileLine(text: line, number: number))
        }
        try parser.endRequest()
        return parser.file
    }

    private mutating func read(_ line: HTTPFileLine) throws(HTTPFileError) {
        if isInScript {
            isInScript = !line.text.contains("%}")
            return
        }
        if line.text.utf8.starts(with: "###".utf8) {
            try endRequest()
            let text = line.text.drop { $0 == "#" }.trimmed
            title = text.isEmpty ? nil : String(text)
            return
        }
        if let comment = line.comment {
            return try read(comment: comment, line, isHead: state == .head)
        }
        if let expectation = try line.expectation() {
            guard state != .head else {
                throw HTTPFileError(
                    FilePosition(line: line.number), "'??' must be below the request line; is '###' missing?")
            }
            request?.options.expectations.append(expectation)
            return
        }
        switch state {
        case .head: try readHead(line)
        case .url: try readURL(line)
        case .fields: try readField(line)
        case .body: try readBody(line)
        }
    }

    private mutating func readHead(_ line: HTTPFileLine) throws(HTTPFileError) {
        guard !line.text.isBlank else { return }
        let text = line.text.trimmed
        if text.hasPrefix("@") {
            return file.variables.append(try line.variable())
        }
        if skip(try line.script()) { return }
        let (method, rest) = try line.method()
        let (url, version) = try line.url(rest)
        request = HTTPFileRequest(
            name: name?.text, title: title, position: line.position(of: text), method: method, url: url,
            version: version, options: options?.value ?? HTTPFileRequest.Options())
        name = nil
        options = nil
        state = .url
    }

    /// Skips a script, with a warning. Returns whether there was a script.
    private mutating func skip(_ script: HTTPFileLine.Script?) -> Bool {
        guard let script else { return false }
        file.warnings.append(
            HTTPFile.Warning(position: script.position, text: script.name + " is skipped: scripts are not supported"))
        isInScript = script.isOpen
        return true
    }

    private mutating func readURL(_ line: HTTPFileLine) throws(HTTPFileError) {
        let text = line.text.trimmed
        let isIndented = text.startIndex != line.text.startIndex
        guard let first = text.first, first == "?" || first == "&" || (first == "/" && isIndented) else {
            state = .fields
            return try readField(line)
        }
        guard request?.version == nil else {
            throw HTTPFileError(line.position(of: text), "the URL continues after the HTTP version")
        }
        let (url, version) = try line.url(text)
        request?.url.append(url)
        request?.version = version
    }

    private mutating func readField(_ line: HTTPFileLine) throws(HTTPFileError) {
        if line.text.isBlank {
            state = .body
        } else if !line.isResponseReference {
            if skip(try line.script()) { return }
            request?.fields.append(try line.field())
        }
    }

    private mutating func readBody(_ line: HTTPFileLine) throws(HTTPFileError) {
        guard !line.isResponseReference else { return }
        if skip(try line.script()) { return }
        if let file = try line.bodyFile() {
            request?.body.append(.file(file))
        } else {
            request?.body.append(.text(try HTTPTemplate(line.text, at: FilePosition(line: line.number))))
        }
    }

    private mutating func endRequest() throws(HTTPFileError) {
        defer {
            title = nil
            state = .head
        }
        guard var request = request.take() else {
            if let place = name?.position ?? options?.position {
                throw HTTPFileError(place, "a request line is missing after this line")
            }
            return
        }
        // Blank lines before the next request are not part of the body.
        while case .text(let line)? = request.body.last, line.source.isBlank { request.body.removeLast() }
        if let name = request.name {
            if let first = names.updateValue(request.position, forKey: name) {
                throw HTTPFileError(
                    request.position, "the name '\(name)' is already used by the request on line \(first.line)")
            }
        }
        request.number = file.requests.count + 1
        file.requests.append(request)
    }
}
