import Errand

/// What a `.http` file says, before anything is put in its variables' places.
struct HTTPFile: Sendable {
    /// `@name = value`.
    struct Variable: Sendable {
        let name: String
        let value: HTTPTemplate
        let position: FilePosition
    }

    /// What is in the file and is not done.
    struct Warning: Sendable {
        let position: FilePosition
        let text: String
    }

    /// In the file's order. Of a name that comes more than once, each holds from its line on.
    var variables: [Variable] = []
    var warnings: [Warning] = []
    var requests: [HTTPFileRequest] = []
}

/// One request of a `.http` file.
struct HTTPFileRequest: Sendable {
    /// A header line. Names are literal.
    struct Field: Sendable {
        let name: String
        let value: HTTPTemplate
        let position: FilePosition
    }

    /// Of `# @name`: what other requests call it by.
    var name: String?
    /// Behind `###`.
    var title: String?
    /// Of the request line.
    var position: FilePosition
    /// Its place in the file, from 1.
    var number = 1
    var method = "GET"
    var url: HTTPTemplate
    var version: ConnectionOptions.HTTPVersionPolicy?
    var fields: [Field] = []
    var body: [HTTPBodyLine] = []
    var options = Options()

    /// As it is called in what is printed.
    var label: String { name ?? title ?? "#\(number)" }

    /// Whether it may be called so.
    func answers(to label: String) -> Bool {
        label == name || label == title || label == "#\(number)"
    }

    /// What comments beginning with `@` say, beside names.
    struct Options: Sendable, Equatable {
        var followsRedirects = true
        var usesCookies = true
        /// `# @timeout`: the longest silence, as JetBrains has it.
        var idleTimeout: Duration?
        var connectTimeout: Duration?
        /// `# @expect`, and the lines that begin with `??`.
        var expectations: [HTTPExpectation] = []
    }
}

/// A line of a body, without its end.
enum HTTPBodyLine: Sendable {
    case text(HTTPTemplate)
    case file(HTTPBodyFile)
}

/// `< path`, or `<@encoding path`.
struct HTTPBodyFile: Sendable {
    let path: HTTPTemplate
    /// `nil`: the bytes as they are.
    let encoding: HTTPFileEncoding?
    let position: FilePosition
}

/// What `<@encoding` may name.
enum HTTPFileEncoding: String, Sendable {
    case utf8
    case latin1

    init?(label: Substring) {
        switch label.lowercased() {
        case "", "utf8", "utf-8": self = .utf8
        case "latin1", "iso-8859-1": self = .latin1
        default: return nil
        }
    }

    /// Returns: `nil` where the bytes are not valid.
    func text(_ bytes: [UInt8]) -> String? {
        switch self {
        case .utf8: String(validating: bytes, as: UTF8.self)
        case .latin1: String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
        }
    }
}
