import Foundation

/// The target of `errand bench`, determined by the words of the command line.
enum BenchTarget: Sendable {
    /// One URL, without an option of load tests. This measures the layers of the library.
    case url(URLArgument)
    case urls([URLArgument])
    /// `.http` files.
    case files([String])
    /// A plan in JSON.
    case plan(String)

    private enum Kind {
        case url, file, plan
    }

    private static let endings = [".http", ".rest", ".har"]

    /// - Parameter isLoad: Whether an option of load tests is given.
    init(_ words: [String], isLoad: Bool) throws(ToolError) {
        guard let first = words.first else { throw ToolError(.usage, "a URL, a .http file or a plan is required") }
        let kinds = words.map(BenchTarget.kind)
        guard kinds.allSatisfy({ $0 == kinds[0] }) else {
            throw ToolError(.usage, "URLs, .http files and plans cannot be mixed")
        }
        switch kinds[0] {
        case .url:
            let urls = words.map { URLArgument(argument: $0) }
            self = urls.count == 1 && !isLoad ? .url(urls[0]) : .urls(urls)
        case .file:
            self = .files(words)
        case .plan:
            guard words.count == 1 else { throw ToolError(.usage, "only one plan can be run, not \(words.count)") }
            self = .plan(first)
        }
    }

    /// A word without a scheme is a file if such a file exists, or if the word can only mean a file.
    private static func kind(_ word: String) -> Kind {
        guard !word.contains("://") else { return .url }
        let name = word.lowercased()
        let isPlan = name.hasSuffix(".json")
        let isFile = word == "-" || endings.contains { name.hasSuffix($0) }
        if FileManager.default.fileExists(atPath: word) { return isPlan ? .plan : .file }
        guard isPlan || isFile else { return .url }
        // `localhost/a.json` is a URL. `a.json` and `./a.json` are files, and so is `plans/a.json` if the folder
        // exists.
        let folder = word.split(separator: "/", omittingEmptySubsequences: false).dropLast().joined(separator: "/")
        guard folder.isEmpty || FileManager.default.fileExists(atPath: folder) else { return .url }
        return isPlan ? .plan : .file
    }
}
