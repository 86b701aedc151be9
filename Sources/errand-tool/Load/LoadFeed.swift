import Errand
import ErrandLoad

/// Reads the data of users from a file. The end of its name determines the format: `.csv`, or `.jsonl` and `.ndjson`.
enum LoadFeed {
    static func read(
        _ path: String, named name: String, order: LoadData.Order, atEnd: LoadData.AtEnd
    ) throws(LoadFeedError) -> LoadData {
        let isCSV = path.lowercased().hasSuffix(".csv")
        guard isCSV || [".jsonl", ".ndjson"].contains(where: { path.lowercased().hasSuffix($0) }) else {
            throw .kind(path)
        }
        if let reason = FileCheck.whyUnreadable(path) { throw .unreadable(path, reason) }
        do throws(LoadDataError) {
            let data =
                isCSV
                ? try LoadData.csv(file: path, named: name, order: order, atEnd: atEnd)
                : try LoadData.jsonLines(file: path, named: name, order: order, atEnd: atEnd)
            if let column = data.columns.first(where: { !HTTPPlaceholder.isName($0[...]) }) {
                throw LoadDataError.malformed(
                    name: name, line: 1, problem: "the column '\(column)' cannot be the name of a variable")
            }
            return data
        } catch {
            throw .data(path, error)
        }
    }

    /// The values of the first row, for checks before the run. Throws if two feeds have the same column.
    static func firstRow(_ feeds: [LoadData]) throws(LoadFeedError) -> [String: String] {
        var row: [String: String] = [:]
        for feed in feeds {
            for (place, column) in feed.columns.enumerated() {
                // A value that is missing in this row may be present in another row.
                guard row.updateValue(feed.table[0][place] ?? "", forKey: column) == nil else {
                    throw .column(column)
                }
            }
        }
        return row
    }
}

/// The reason why a file of data cannot be used.
enum LoadFeedError: Error {
    case kind(String)
    case unreadable(String, String)
    case data(String, LoadDataError)
    case column(String)

    var message: String {
        switch self {
        case .kind(let path): "'\(Shown.text(path))' is neither a .csv nor a .jsonl file"
        case .unreadable(let path, let reason): "cannot read '\(Shown.text(path))': \(reason)"
        case .data(let path, let error): "'\(Shown.text(path))': \(Shown.text(error.description))"
        case .column(let column): "two files of data have the column '\(Shown.text(column))'"
        }
    }

    var status: ExitStatus {
        switch self {
        case .kind, .column: .usage
        case .unreadable: .inputFile
        case .data(_, .unreadable): .inputFile
        case .data: .inputData
        }
    }
}
