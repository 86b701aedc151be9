extension FuzzTarget {
    /// A `.http` file is read, or the error has a place inside the text.
    static let httpFile = FuzzTarget(name: "http-file") { bytes in
        let lineCount = bytes.count { $0 == 0x0A || $0 == 0x0D } + 1
        do throws(HTTPFileError) {
            _ = try HTTPFileParser.parse(bytes)
        } catch {
            precondition(!error.message.isEmpty)
            if let position = error.position { precondition((1...lineCount).contains(position.line)) }
        }
    }
}
