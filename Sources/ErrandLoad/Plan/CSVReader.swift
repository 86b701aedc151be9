/// Reads CSV as RFC 4180 defines it. Lenient in two points: LF alone ends a line, and a line may be empty.
enum CSVReader {
    struct Record {
        /// From 1: the line at which the record begins.
        let line: Int
        let fields: [String]
    }

    private static let quote = UInt8(ascii: "\"")
    private static let comma = UInt8(ascii: ",")
    private static let lineFeed: UInt8 = 0x0A
    private static let carriageReturn: UInt8 = 0x0D

    /// Throws ``LoadDataError/malformed(name:line:problem:)``.
    static func records(_ bytes: [UInt8], of name: String) throws(LoadDataError) -> [Record] {
        var records: [Record] = []
        var fields: [String] = []
        var line = 1
        var begin = 1
        // A byte order mark.
        var position = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
        while position < bytes.count || !fields.isEmpty {
            let isQuoted = position < bytes.count && bytes[position] == quote
            let field =
                try isQuoted
                ? quoted(bytes, &position, &line, of: name) : plain(bytes, &position, line, of: name)
            let next = position < bytes.count ? bytes[position] : nil
            if next == comma {
                fields.append(field)
                position += 1
                // A comma at the end of the file is followed by one more, empty field.
                continue
            }
            if next == carriageReturn { position += 1 }
            if position < bytes.count {
                guard bytes[position] == lineFeed else {
                    let problem = isQuoted ? "text after a closing quote" : "a carriage return without a line feed"
                    throw .malformed(name: name, line: line, problem: problem)
                }
                position += 1
            }
            if !(fields.isEmpty && field.isEmpty && !isQuoted) {
                fields.append(field)
                records.append(Record(line: begin, fields: fields))
            }
            fields = []
            line += 1
            begin = line
        }
        return records
    }

    private static func plain(
        _ bytes: [UInt8], _ position: inout Int, _ line: Int, of name: String
    ) throws(LoadDataError) -> String {
        let start = position
        while position < bytes.count {
            let byte = bytes[position]
            if byte == comma || byte == lineFeed || byte == carriageReturn { break }
            // RFC 4180 2.5: a field without quotes around it contains none.
            guard byte != quote else { throw .malformed(name: name, line: line, problem: "a quote within a field") }
            position += 1
        }
        return try text(bytes[start..<position], line, of: name)
    }

    private static func quoted(
        _ bytes: [UInt8], _ position: inout Int, _ line: inout Int, of name: String
    ) throws(LoadDataError) -> String {
        let begin = line
        position += 1
        var field: [UInt8] = []
        while position < bytes.count {
            let byte = bytes[position]
            position += 1
            if byte == quote {
                guard position < bytes.count, bytes[position] == quote else {
                    return try text(field[...], begin, of: name)
                }
                position += 1
            }
            if byte == lineFeed { line += 1 }
            field.append(byte)
        }
        throw .malformed(name: name, line: begin, problem: "a quote that is not closed")
    }

    private static func text(
        _ bytes: ArraySlice<UInt8>, _ line: Int, of name: String
    ) throws(LoadDataError) -> String {
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw .malformed(name: name, line: line, problem: "not UTF-8")
        }
        return text
    }
}
