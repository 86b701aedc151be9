/// A position in a text file, counted from 1. Columns count Unicode scalars.
struct FilePosition: Sendable, Hashable, Comparable {
    var line: Int
    var column = 1

    static func < (left: FilePosition, right: FilePosition) -> Bool {
        (left.line, left.column) < (right.line, right.column)
    }
}

/// A mistake in a `.http` file or in a file that it refers to. The message contains no values, because values may be
/// secrets.
struct HTTPFileError: Error, Equatable {
    /// `nil`: the error concerns the whole file.
    var position: FilePosition?
    let message: String
    /// The path of the file; set by the caller that knows it.
    var file: String?

    init(_ position: FilePosition?, _ message: String) {
        self.position = position
        self.message = message
    }

    /// The error with that file's path, unless it already has a path.
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
