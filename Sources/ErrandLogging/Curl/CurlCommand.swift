import HTTPTypes

/// A description as a `curl` command line, for a bug report or a manual test: run by a POSIX shell, it sends the same
/// request.
///
/// ```swift
/// print(try client.curlCommand(for: GetUser(id: 1)))
/// // curl -q --noproxy '*' --connect-timeout 10 --speed-limit 1 --speed-time 60 -H 'User-Agent: errand/0.1' http://...
/// ```
///
/// Secrets are hidden unless ``Redaction/none`` is given. The command omits the client's cookies, which are added when
/// the request is sent, and settings for which `curl` has no option: priority, limits, the timeouts of the queue and of
/// the first byte, and TLS that accepts any host name but not any certificate (`-k` accepts both). An idle timeout is
/// given as the whole seconds for which the rate may stay below one byte a second.
public struct CurlCommand: Sendable, CustomStringConvertible {
    /// The command, in one piece.
    public let description: String

    /// Linux does not accept a longer argument (MAX_ARG_STRLEN, 128 KiB).
    private static let longestArgument = 100_000

    /// Creates the command for a description.
    ///
    /// - Parameters:
    ///   - description: The request.
    ///   - connection: The client's default, for a description without options of its own.
    ///   - redaction: The secrets to hide. Default: ``Redaction/standard``.
    ///   - bodyLimit: A body of more bytes is omitted: the command reads it from standard input, and a comment at its
    ///     end says so. Default: 64 KiB.
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
        words += Self.method(description.method, body)
        words += Self.headers(description, redaction: redaction, hasBody: body.isPresent)
        words += body.words
        let url = redaction.url(description.url)
        // Without these options, `curl` would expand brackets and braces and remove dot segments.
        if url.utf8.contains(where: { "[]{}".utf8.contains($0) }) { words.append("-g") }
        if URLReference.hasDotSegment(URLReference(url).path) { words.append("--path-as-is") }
        words.append(ShellWord.quoted(url))
        self.description = (body.source ?? "") + words.joined(separator: " ") + (body.comment.map { " # \($0)" } ?? "")
    }

    private static func method(_ method: HTTPRequest.Method, _ body: BodyWords) -> [String] {
        switch method {
        case .get where !body.isPresent: []
        // With `-T`, `curl` would send PUT.
        case .post where body.isPresent && !body.isUpload: []
        case .head where !body.isPresent: ["--head"]
        default: ["-X", ShellWord.quoted(method.rawValue)]
        }
    }

    /// A word for each line of the block, then one for each field that `curl` would add and the engine does not.
    private static func headers(_ description: RequestDescription, redaction: Redaction, hasBody: Bool) -> [String] {
        var words: [String] = []
        var names: Set<String> = []
        for field in description.headers.fields {
            let name = field.name.canonicalName
            names.insert(name)
            // `curl` and the engine both set this field from the body.
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
        // "Name:" would remove the field.
        return ShellWord.quoted(Array(name.utf8) + (value.isEmpty ? [0x3B] : [0x3A, 0x20] + value))
    }

    /// The `curl` words for the body.
    private struct BodyWords {
        var isPresent = true
        /// Whether the words are `-T -`.
        var isUpload = false
        var words = ["--data-binary", "@-"]
        /// A command and a pipe before `curl`.
        var source: String?
        var comment: String?

        init(_ description: RequestDescription, redaction: Redaction, limit: Int) {
            if case .none = description.body {
                // RFC 9110 8.6: these methods send Content-Length: 0.
                isPresent = [.post, .put, .patch].contains(description.method)
                words = isPresent ? ["--data-raw", "''"] : []
            } else if case .file(let path, let offset, let length) = description.body {
                take(path, offset, length)
            } else if description.isBodyInMemory {
                let bytes = description.bodyBytes
                // Checked before the search for secrets: a large body is not shown, and the search would take long.
                guard bytes.count <= limit else {
                    comment = "the body's \(bytes.count) bytes on standard input"
                    return
                }
                take(redaction.body(bytes, contentType: description.headers[.contentType]))
            } else {
                isUpload = true
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
            // A range that is the whole file at present is shown as the whole file, which is easier to read.
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
        if case .shared = body { return true }
        return false
    }
}

extension AnyRequest {
    /// The current or last transfer as a `curl` command line; `nil` before the first start, and if the request could
    /// not be built.
    public final func curlCommand(redaction: Redaction = .standard) -> String? {
        transferDescription.map { CurlCommand($0, connection: client.connection, redaction: redaction).description }
    }
}

extension Client {
    /// The request that `command` would send, as a `curl` command line; nothing is sent. Throws the error that a start
    /// would fail with.
    public func curlCommand(
        for command: some Command, redaction: Redaction = .standard
    ) throws(ErrandError) -> String {
        CurlCommand(try describe(command), connection: connection, redaction: redaction).description
    }
}
