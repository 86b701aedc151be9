import HTTPTypes

/// A description as a `curl` command line, for a bug report or a try by hand: run by a POSIX shell, it sends the same
/// request.
///
/// ```swift
/// print(try client.curlCommand(for: GetUser(id: 1)))
/// // curl -q --noproxy '*' --connect-timeout 10 --speed-limit 1 --speed-time 60 -H 'User-Agent: errand/0.1' http://...
/// ```
///
/// Secrets are hidden unless ``Redaction/none`` is asked for. Left out are the client's cookies, which it adds as it sends,
/// and what `curl` has no option for: priority, limits, the queue's and the first byte's timeouts, and accepting any host name alone (`-k` accepts any certificate
/// too). An idle timeout becomes whole seconds at less than a byte a second.
public struct CurlCommand: Sendable, CustomStringConvertible {
    /// The command, in one piece.
    public let description: String

    /// A longer argument cannot be passed on Linux (MAX_ARG_STRLEN, 128 KiB).
    private static let longestArgument = 100_000

    /// Prints a description.
    ///
    /// - Parameters:
    ///   - description: What is sent.
    ///   - connection: What a description without options of its own goes by, the client's default.
    ///   - redaction: What is hidden. Default: ``Redaction/standard``.
    ///   - bodyLimit: A body of more bytes is left out, and the command reads it from standard input, as a comment at its
    ///     end says. Default: 64 KiB.
    public init(
        _ description: RequestDescription, connection: ConnectionOptions = ConnectionOptions(),
        redaction: Redaction = .standard, bodyLimit: Int = 65536
    ) {
        var words = ["curl", "-q"]
        let body = BodyWords(description, redaction: redaction, limit: bodyLimit)
        words += (description.settings.connection ?? connection).resolved.curlWords(
            url: description.url, hasAcceptEncoding: description.headers[.acceptEncoding] != nil, redaction: redaction)
        words += description.settings.curlWords
        if case .digest(let username, let password) = description.authentication {
            let shown = redaction.hidesCredentials ? Redaction.placeholder : password
            words += ["--digest", "--user", ShellWord.quoted("\(username):\(shown)")]
        }
        words += Self.method(description.method, hasBody: body.isPresent)
        words += Self.headers(description, redaction: redaction, hasBody: body.isPresent)
        words += body.words
        let url = redaction.url(description.url)
        // Otherwise `curl` would take brackets and braces for a pattern, and remove dot segments.
        if url.utf8.contains(where: { "[]{}".utf8.contains($0) }) { words.append("-g") }
        if URLReference.hasDotSegment(URLReference(url).path) { words.append("--path-as-is") }
        words.append(ShellWord.quoted(url))
        self.description = (body.source ?? "") + words.joined(separator: " ") + (body.comment.map { " # \($0)" } ?? "")
    }

    private static func method(_ method: HTTPRequest.Method, hasBody: Bool) -> [String] {
        switch method {
        case .get where !hasBody: []
        case .post where hasBody: []
        case .head where !hasBody: ["--head"]
        default: ["-X", ShellWord.quoted(method.rawValue)]
        }
    }

    /// Each line of the block, then a word for each field that `curl` would add and the engine does not.
    private static func headers(_ description: RequestDescription, redaction: Redaction, hasBody: Bool) -> [String] {
        var words: [String] = []
        var names: Set<String> = []
        for field in description.headers.fields {
            let name = field.name.canonicalName
            names.insert(name)
            // Written from the body, by `curl` as by the engine.
            if hasBody, name == "content-length" { continue }
            words += ["-H", headerWord(field, redaction)]
        }
        if !names.contains("user-agent") { words += ["-H", "User-Agent:"] }
        if hasBody, !names.contains("content-type") { words += ["-H", "Content-Type:"] }
        if hasBody, !names.contains("expect") { words += ["-H", "Expect:"] }
        return words
    }

    private static func headerWord(_ field: HTTPField, _ redaction: Redaction) -> String {
        let name = field.name.rawName
        var value = field.withUnsafeBytesOfValue { Array($0) }
        if !redaction.isNone, let text = String(validating: value, as: UTF8.self) {
            value = Array(redaction.value(text, ofHeader: name).utf8)
        } else if redaction.hides(header: name) {
            value = Array(Redaction.placeholder.utf8)
        }
        // "Name:" would take the field away.
        return ShellWord.quoted(Array(name.utf8) + (value.isEmpty ? [0x3B] : [0x3A, 0x20] + value))
    }

    /// How the body gets to `curl`.
    private struct BodyWords {
        var isPresent = true
        var words = ["--data-binary", "@-"]
        /// A command and a pipe in front of `curl`.
        var source: String?
        var comment: String?

        init(_ description: RequestDescription, redaction: Redaction, limit: Int) {
            if case .none = description.body {
                // RFC 9110 8.6: these say Content-Length: 0.
                isPresent = [.post, .put, .patch].contains(description.method)
                words = isPresent ? ["--data-raw", "''"] : []
            } else if case .file(let path, let offset, let length) = description.body {
                take(path, offset, length)
            } else if description.isBodyInMemory {
                let bytes = description.bodyBytes
                // Before it is searched for secrets: a large one is not shown, and the search is not short.
                guard bytes.count <= limit else {
                    comment = "the body's \(bytes.count) bytes on standard input"
                    return
                }
                take(redaction.body(bytes, contentType: description.headers[.contentType]))
            } else {
                words = ["-T", "-"]
                comment = "the body, a stream, on standard input"
            }
        }

        private mutating func take(_ bytes: [UInt8]) {
            if bytes.count <= CurlCommand.longestArgument, ShellWord.isShowable(bytes),
                String(validating: bytes, as: UTF8.self) != nil
            {
                words = ["--data-raw", ShellWord.quoted(bytes)]
            } else {
                source = "printf '\(ShellWord.printfFormat(bytes))' | "
            }
        }

        private mutating func take(_ path: String, _ offset: UInt64, _ length: Int64?) {
            let path = path.hasPrefix("-") ? "./" + path : path
            // What is the whole file by now is easier read as such.
            if offset == 0, length == nil || length == (try? FileBodySource(path: path))?.count {
                words = ["--data-binary", ShellWord.quoted("@" + path)]
                return
            }
            var source = "tail -c +\(offset + 1) \(ShellWord.quoted(path)) | "
            if let length { source += "head -c \(length) | " }
            self.source = source
        }
    }
}

extension RequestDescription {
    fileprivate var isBodyInMemory: Bool {
        if case .bytes = body { return true }
        if case .data = body { return true }
        return false
    }
}

extension AnyRequest {
    /// What the present or last transfer sends, as a `curl` command line; `nil` before the first start, and where it could
    /// not be built.
    public final func curlCommand(redaction: Redaction = .standard) -> String? {
        transferDescription.map { CurlCommand($0, connection: client.connection, redaction: redaction).description }
    }
}

extension Client {
    /// What `command` would send, as a `curl` command line, without sending it. Throws what a start would fail with.
    public func curlCommand(
        for command: some Command, redaction: Redaction = .standard
    ) throws(ErrandError) -> String {
        CurlCommand(try describe(command), connection: connection, redaction: redaction).description
    }
}
