/// A table in HTML, which can be scrolled on a narrow screen, also with the keyboard. Its caption and its first column
/// stay in view. All texts are escaped.
struct HTMLTable {
    let caption: String
    let columns: [String]
    /// The first cell of a row is its title.
    var rows: [[String]] = []
    /// The class of a row, by its place.
    var styles: [Int: String] = [:]

    /// Empty if there are no rows.
    var html: String {
        guard !rows.isEmpty else { return "" }
        let heads = columns.map { "<th scope=\"col\">\(MarkupText.escaped($0))</th>" }.joined()
        let lines = rows.enumerated().map { place, row in
            let style = styles[place].map { " class=\"\($0)\"" } ?? ""
            let cells = row.enumerated().map { column, cell in
                column == 0
                    ? "<th scope=\"row\">\(MarkupText.escaped(cell))</th>" : "<td>\(MarkupText.escaped(cell))</td>"
            }
            return "<tr\(style)>\(cells.joined())</tr>"
        }
        return """
            <figure><figcaption>\(MarkupText.escaped(caption))</figcaption>
            <div class="scroll" role="region" aria-label="\(MarkupText.escaped(caption))" tabindex="0"><table>
            <thead><tr>\(heads)</tr></thead>
            <tbody>\(lines.joined(separator: "\n"))</tbody></table></div></figure>
            """
    }
}
