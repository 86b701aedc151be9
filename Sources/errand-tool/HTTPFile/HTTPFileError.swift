/// A place in a text file, from 1. Columns count Unicode scalars.
struct FilePosition: Sendable, Hashable, Comparable {
    var line: Int
    var column = 1

    static func < (left: FilePosition, right: FilePosition) -> Bool {
        (left.line, left.column) < (right.line, right.column)
    }
}

/// What is wrong with a `.http` file or with what it refers to. The message holds no values, which may be secrets.
struct HTTPFileError: Error, Equatable {
    /// `nil`: of the file as a whole.
    var position: FilePosition?
    let message: String
    /// Filled in by who knows.
    var file: String?

    init(_ position: FilePosition?, _ message: String) {
        self.position = position
        self.message = message
    }

    /// The same in that file, unless it is known to be in another.
    func inFile(_ file: String) -> HTTPFileError {
        var error = self
        error.file = error.file ?? file
        return error
    }

    /// `file:line:column: message`.
    var text: String {
        var place = file.map { [$0] } ?? []
        if let position { place += [String(position.line), String(position.column)] }
        return (place + [" " + message]).joined(separator: ":").trimmingPrefix(" ").description
    }
}

extension ToolError {
    init(_ error: HTTPFileError) {
        self.init(.inputData, error.text)
    }
}
