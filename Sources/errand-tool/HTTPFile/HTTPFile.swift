import Errand
import ErrandLoad

/// The content of a `.http` file, before variables are replaced.
struct HTTPFile: Sendable {
    /// `@name = value`.
    struct Variable: Sendable {
        let name: String
        let value: HTTPTemplate
        let position: FilePosition
    }

    /// A part of the file that is not supported and is skipped.
    struct Warning: Sendable {
        let position: FilePosition
        let text: String
    }

    /// The variables in the file's order. If a name is defined more than once, each definition applies from its line
    /// on.
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

    /// The name that `# @name` sets, by which other requests refer to this one.
    var name: String?
    /// The title after `###`.
    var title: String?
    /// The position of the request line.
    var position: FilePosition
    /// The number of the request in the file, counted from 1.
    var number = 1
    var method = "GET"
    var url: HTTPTemplate
    var version: ConnectionOptions.HTTPVersionPolicy?
    var fields: [Field] = []
    var body: [HTTPBodyLine] = []
    var options = Options()

    /// The label of the request in output.
    var label: String { name ?? title ?? "#\(number)" }

    /// Whether this label selects the request.
    func answers(to label: String) -> Bool {
        label == name || label == title || label == "#\(number)"
    }

    /// The options that comments beginning with `@` set, except the name.
    struct Options: Sendable, Equatable {
        var followsRedirects = true
        var usesCookies = true
        /// `# @timeout`: the longest time without data (the idle timeout), as in JetBrains' client.
        var idleTimeout: Duration?
        var connectTimeout: Duration?
        /// `# @think`: how long a user of a load test waits after the request.
        var think: ThinkTime?
        /// `# @weight`: how often a load test chooses the request, compared with the others of the file.
        var weight: Double?
        /// The expectations of `# @expect` and of the lines that begin with `??`.
        var expectations: [HTTPExpectation] = []
    }
}

/// A line of a body without its line end, or a recorded body.
enum HTTPBodyLine: Sendable {
    case text(HTTPTemplate)
    case file(HTTPBodyFile)
    /// The bytes of a recorded body, always the complete body.
    case bytes([UInt8])
    /// The complete body as text, without the rules of `.http` files: only its variables are replaced.
    case exact(HTTPTemplate)
}

/// `< path`, or `<@encoding path`.
struct HTTPBodyFile: Sendable {
    let path: HTTPTemplate
    /// `nil`: the bytes are sent unchanged.
    let encoding: HTTPFileEncoding?
    let position: FilePosition
}

/// The encodings that `<@encoding` can name.
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

    /// Returns `nil` if the bytes are not valid in this encoding.
    func text(_ bytes: [UInt8]) -> String? {
        switch self {
        case .utf8: String(validating: bytes, as: UTF8.self)
        case .latin1: String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
        }
    }
}
