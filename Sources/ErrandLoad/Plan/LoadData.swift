public import Errand

/// A feed: rows of data for the users of a scenario, from a CSV or a JSON Lines file or from code.
///
/// ```swift
/// scenario.data = [try .csv(file: "accounts.csv", named: "accounts", order: .uniquePerUser)]
/// // in the steps:
/// let account = try user.row(of: "accounts")
/// try await user.run(LogIn(name: account["name"] ?? ""))
/// ```
///
/// The iterations of a warm-up take rows, too. All rows are in memory. A share of a plan reads every `count`-th row, so that all shares together read each row as
/// often as the whole plan does.
public struct LoadData: Sendable {
    /// Which row an iteration gets.
    public enum Order: String, Sendable, Hashable, Codable, CaseIterable {
        /// Each iteration gets the next row, whichever user asks.
        case sequential
        /// Each iteration gets a row at random, by the plan's seed.
        case random
        /// A user gets the same row in all its iterations, and no other user gets it. With ``AtEnd/wrap`` the feed needs a
        /// row for each user, or the plan is refused.
        case uniquePerUser = "unique_per_user"
    }

    /// What happens after the last row.
    public enum AtEnd: String, Sendable, Hashable, Codable, CaseIterable {
        /// ``LoadUser/row(of:)`` throws ``LoadDataError/exhausted(name:)``, which ends the iteration and the user. In the open
        /// model arrivals continue: arrivals for which no user is left count as never started.
        case fail
        /// The first row follows.
        case wrap
    }

    /// The size of the largest file that is read by default, in bytes: 64 MiB.
    public static let byteLimit = 64 << 20

    /// The name by which steps ask for a row.
    public var name: String
    /// Which row an iteration gets.
    public var order: Order
    /// What happens after the last row.
    public var atEnd: AtEnd
    /// The names of the columns. CSV: as in the header row. JSON Lines: the names of all members, sorted.
    public let columns: [String]
    package let table: [[String?]]

    init(
        _ name: String, columns: [String], table: [[String?]], order: Order, atEnd: AtEnd
    ) throws(LoadDataError) {
        guard !table.isEmpty else { throw .empty(name: name) }
        self.name = name
        self.columns = columns
        self.table = table
        self.order = order
        self.atEnd = atEnd
    }

    /// The number of rows.
    public var count: Int { table.count }

    /// Rows from code. Throws ``LoadDataError/empty(name:)``.
    public init(
        named name: String, rows: [[String: String]], order: Order = .sequential, atEnd: AtEnd = .wrap
    ) throws(LoadDataError) {
        let columns = Set(rows.flatMap(\.keys)).sorted()
        try self.init(
            name, columns: columns, table: rows.map { row in columns.map { row[$0] } }, order: order, atEnd: atEnd)
    }

    /// CSV (RFC 4180) in UTF-8, whose first line names the columns. CRLF and LF end lines; a byte order mark and empty
    /// lines are skipped. A line whose number of fields differs from that of the first line is an error.
    public static func csv(
        _ bytes: [UInt8], named name: String, order: Order = .sequential, atEnd: AtEnd = .wrap
    ) throws(LoadDataError) -> LoadData {
        var records = try CSVReader.records(bytes, of: name)
        guard !records.isEmpty else { throw .empty(name: name) }
        let columns = records.removeFirst().fields
        var table: [[String?]] = []
        table.reserveCapacity(records.count)
        for record in records {
            guard record.fields.count == columns.count else {
                throw .malformed(
                    name: name, line: record.line,
                    problem: "\(record.fields.count) fields, and the header row has \(columns.count)")
            }
            table.append(record.fields)
        }
        return try LoadData(name, columns: columns, table: table, order: order, atEnd: atEnd)
    }

    /// JSON Lines: one object on each line. Text is used as it is, other values as JSON text; `null` and missing members
    /// are `nil`. Empty lines are skipped.
    public static func jsonLines(
        _ bytes: [UInt8], named name: String, order: Order = .sequential, atEnd: AtEnd = .wrap
    ) throws(LoadDataError) -> LoadData {
        var rows: [[String: String]] = []
        for (index, line) in bytes.split(separator: 0x0A, omittingEmptySubsequences: false).enumerated() {
            guard line.contains(where: { $0 > 0x20 }) else { continue }
            guard let value = try? Response(statusCode: 200, body: Array(line)).json(), value.object != nil else {
                throw .malformed(name: name, line: index + 1, problem: "not a JSON object")
            }
            rows.append(members(Array(line)))
        }
        return try LoadData(named: name, rows: rows, order: order, atEnd: atEnd)
    }

    /// The members of a line that is known to be a JSON object. Other values than text keep the text that they have in
    /// the line, so that numbers keep their digits.
    private static func members(_ line: [UInt8]) -> [String: String] {
        var row: [String: String] = [:]
        var seen: Set<String> = []
        guard var index = line.firstIndex(of: UInt8(ascii: "{")) else { return row }
        repeat {
            let start = JSONSkipper.endOfBlanks(line, index + 1)
            guard start < line.count, line[start] == UInt8(ascii: "\"") else { break }
            let end = JSONSkipper.endOfString(line, start)
            let first = JSONSkipper.endOfBlanks(line, JSONSkipper.endOfBlanks(line, end) + 1)
            let last = JSONSkipper.endOfValue(line, first)
            let value = line[first..<last]
            // The first of two members with one name counts, as in `JSONValue`.
            if let name = JSONSkipper.string(line[start..<end]), seen.insert(name).inserted,
                value.first != UInt8(ascii: "n")
            {
                row[name] =
                    value.first == UInt8(ascii: "\"")
                    ? JSONSkipper.string(value) : String(decoding: value, as: UTF8.self)
            }
            index = JSONSkipper.endOfBlanks(line, last)
        } while index < line.count && line[index] == UInt8(ascii: ",")
        return row
    }

    /// The CSV file at `path`; see ``csv(_:named:order:atEnd:)``. Blocks for the disk. `byteLimit`: a larger file is
    /// refused.
    public static func csv(
        file path: String, named name: String, order: Order = .sequential, atEnd: AtEnd = .wrap,
        byteLimit: Int = LoadData.byteLimit
    ) throws(LoadDataError) -> LoadData {
        try csv(bytes(of: path, name, byteLimit), named: name, order: order, atEnd: atEnd)
    }

    /// The JSON Lines file at `path`; see ``jsonLines(_:named:order:atEnd:)``. Blocks for the disk.
    public static func jsonLines(
        file path: String, named name: String, order: Order = .sequential, atEnd: AtEnd = .wrap,
        byteLimit: Int = LoadData.byteLimit
    ) throws(LoadDataError) -> LoadData {
        try jsonLines(bytes(of: path, name, byteLimit), named: name, order: order, atEnd: atEnd)
    }

    private static func bytes(of path: String, _ name: String, _ limit: Int) throws(LoadDataError) -> [UInt8] {
        do throws(ErrandError) {
            try WholeFile.check(path, of: "the feed '\(name)'")
            if let bytes = try WholeFile.bytes(of: path, atMost: limit) { return bytes }
        } catch {
            throw .unreadable(name: name, error)
        }
        throw .unreadable(name: name, .fileUnreadable.with(message: "\(path): no such file"))
    }

    /// The index of the row for an iteration; `nil`: no row is left. Pure.
    ///
    /// - Parameters:
    ///   - turn: The number of rows that this share has asked for before, for ``Order/sequential``.
    ///   - user: The user's number, from 1, over all shares. 0 for ``Order/random`` in the open model, where only the
    ///     number of the arrival decides.
    package func index(turn: UInt64, user: Int, iteration: UInt64, seed: UInt64, share: LoadShare) -> Int? {
        let rows = UInt64(table.count)
        let number: UInt64
        switch order {
        case .sequential: number = turn &* UInt64(share.count) &+ UInt64(share.index)
        case .uniquePerUser: number = UInt64(max(1, user) - 1)
        case .random:
            // The rows of this share: index, index + count, ...
            let first = UInt64(share.index) % rows
            let own = (rows - first + UInt64(share.count) - 1) / UInt64(share.count)
            return Int(first + LoadRandom.draw(seed, UInt64(max(0, user)), iteration) % own * UInt64(share.count))
        }
        if number < rows { return Int(number) }
        return atEnd == .wrap ? Int(number % rows) : nil
    }
}

/// A row of a ``LoadData``.
public struct LoadRow: Sendable {
    /// The number of the row, from 0.
    public let index: Int
    private let data: LoadData

    init(_ data: LoadData, at index: Int) {
        self.data = data
        self.index = index
    }

    /// The value in that column; `nil`: there is no such column, or it has no value in this row.
    public subscript(column: String) -> String? {
        data.columns.firstIndex(of: column).flatMap { data.table[index][$0] }
    }

    /// All values by column.
    public var values: [String: String] {
        var values: [String: String] = [:]
        for (place, column) in data.columns.enumerated() { values[column] = data.table[index][place] }
        return values
    }
}

/// Why a ``LoadData`` cannot be read, or has no row.
public enum LoadDataError: Error, Sendable, Equatable {
    /// The file cannot be read, or is too large.
    case unreadable(name: String, ErrandError)
    /// The line (from 1) is not CSV or JSON.
    case malformed(name: String, line: Int, problem: String)
    /// There is no row.
    case empty(name: String)
    /// All rows were read; see ``LoadData/AtEnd/fail``.
    case exhausted(name: String)
    /// The scenario has no feed of this name.
    case unknown(name: String)
}

extension LoadDataError: CustomStringConvertible {
    /// One sentence that names the feed.
    public var description: String {
        switch self {
        case .unreadable(let name, let error): "the feed '\(name)' cannot be read: \(error.message)"
        case .malformed(let name, let line, let problem): "the feed '\(name)', line \(line): \(problem)"
        case .empty(let name): "the feed '\(name)' has no rows"
        case .exhausted(let name): "the feed '\(name)' has no rows left"
        case .unknown(let name): "the scenario has no feed '\(name)'"
        }
    }
}
