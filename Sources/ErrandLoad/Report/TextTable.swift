import Errand

/// Columns of text. The first ones are aligned to the left, the others to the right.
struct TextTable {
    var leftColumns = 1
    var rows: [[String]] = []

    /// The rows as lines.
    var lines: [String] {
        let columns = rows.map(\.count).max() ?? 0
        let widths = (0..<columns).map { column in rows.map { column < $0.count ? $0[column].count : 0 }.max() ?? 0 }
        return rows.map { row in
            let cells = row.enumerated().map { column, cell in
                let padding = String(repeating: " ", count: widths[column] - cell.count)
                return column < leftColumns ? cell + padding : padding + cell
            }
            var line = cells.joined(separator: "  ")
            while line.hasSuffix(" ") { line.removeLast() }
            return line
        }
    }

    /// Text from a plan or server on one line, and without characters that a terminal acts on.
    static func plain(_ text: String) -> String {
        var plain = ""
        for scalar in text.unicodeScalars { plain.unicodeScalars.append(scalar.isControl ? "\u{FFFD}" : scalar) }
        return plain
    }
}
