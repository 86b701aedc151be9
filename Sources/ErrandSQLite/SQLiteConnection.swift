import CSQLite
import Glibc

/// One open database and its prepared statements. Used by one thread at a time; SQLite's own locks are off.
final class SQLiteConnection {
    /// The process that opened the connection. A connection must not be used after a fork.
    private let process = getpid()
    /// Identifies the file that was opened.
    let file: SQLiteCacheFile.Identity
    private let database: OpaquePointer
    private let busy: SQLiteBusyHandler
    private var statements = [OpaquePointer?](repeating: nil, count: SQLiteStatement.allCases.count)

    /// Opens an existing file.
    init(path: String, waiting: SQLiteWaiting = SQLiteWaiting()) throws(SQLiteFailure) {
        guard let file = SQLiteCacheFile.Identity(path: path) else {
            throw SQLiteFailure(code: SQLITE_CANTOPEN, message: "\(path) does not exist")
        }
        guard SQLiteOpenFiles.enter(file) else {
            throw SQLiteFailure(code: SQLITE_MISUSE, message: "the process was forked while \(path) was open")
        }
        var opened: OpaquePointer?
        // 0x0200_0000 is SQLITE_OPEN_EXRESCODE: without it, sqlite3_open_v2 returns no extended result codes.
        let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | 0x0200_0000
        let code = Self.call(sqlite3_open_v2(path, &opened, flags, nil))
        guard let opened else {
            SQLiteOpenFiles.leave(file)
            throw SQLiteFailure(code: SQLITE_NOMEM, message: "out of memory")
        }
        guard code == SQLITE_OK else {
            defer {
                sqlite3_close(opened)
                SQLiteOpenFiles.leave(file)
            }
            throw Self.failure(opened, code)
        }
        self.file = file
        database = opened
        busy = SQLiteBusyHandler(waiting)
        // Not `sqlite3_busy_timeout`, which would use the wall clock in tests. The handler lives as long as the
        // connection.
        sqlite3_busy_handler(
            database,
            { handler, count in
                guard let handler else { return 0 }
                return Unmanaged<SQLiteBusyHandler>.fromOpaque(handler).takeUnretainedValue().wait(Int(count)) ? 1 : 0
            }, Unmanaged.passUnretained(busy).toOpaque())
        sqlite3_extended_result_codes(database, 1)
    }

    /// Whether this process opened the connection.
    var isOurs: Bool { process == getpid() }

    deinit {
        // Closing in a child would write the parent's log into the file, while the parent still uses it.
        guard isOurs else { return }
        for statement in statements { sqlite3_finalize(statement) }
        sqlite3_close(database)
        SQLiteOpenFiles.leave(file)
    }

    /// Clears `errno` before the call, so that an earlier failure of the thread is not taken for a failure of this
    /// call.
    private static func call(_ body: @autoclosure () -> Int32) -> Int32 {
        errno = 0
        return body()
    }

    /// Must be called directly after the failed ``call(_:)``, while `errno` still belongs to that call. SQLite also
    /// keeps the number of a failed system call, but not for a failed commit, and the kept number may be of an earlier
    /// call.
    private static func failure(_ database: OpaquePointer, _ code: Int32) -> SQLiteFailure {
        let number = errno
        let kept = sqlite3_system_errno(database)
        return SQLiteFailure(
            code: code, systemError: number != 0 ? number : kept, message: String(cString: sqlite3_errmsg(database)))
    }

    private func check(_ body: @autoclosure () -> Int32) throws(SQLiteFailure) {
        let code = Self.call(body())
        guard code == SQLITE_OK else { throw Self.failure(database, code) }
    }

    /// Protects the connection against a hostile file, and makes SQLite leave -wal and -shm in place. On close SQLite
    /// would unlink them by name, and after a repair by another process that name belongs to files in use.
    func harden() throws(SQLiteFailure) {
        try check(csqlite_be_defensive(database))
        try check(csqlite_keep_wal(database))
    }

    /// Sets the time until which later calls wait for a lock; `nil`: they do not wait.
    func waitForLocks(until deadline: ContinuousClock.Instant?) {
        busy.deadline = deadline
    }

    /// Runs statements whose results are not needed.
    func execute(_ sql: String) throws(SQLiteFailure) {
        try check(sqlite3_exec(database, sql, nil, nil, nil))
    }

    /// The values in the first column of a query's rows.
    private func column<Value>(
        _ sql: String, _ read: (OpaquePointer) -> Value
    ) throws(SQLiteFailure) -> [Value] {
        var statement: OpaquePointer?
        try check(sqlite3_prepare_v2(database, sql, -1, &statement, nil))
        guard let statement else { return [] }
        defer { sqlite3_finalize(statement) }
        var values: [Value] = []
        while true {
            let code = Self.call(sqlite3_step(statement))
            if code == SQLITE_DONE { return values }
            guard code == SQLITE_ROW else { throw Self.failure(database, code) }
            values.append(read(statement))
        }
    }

    /// The integer that a query returns; 0 if it returns no row.
    func integer(_ sql: String) throws(SQLiteFailure) -> Int64 {
        try column(sql) { sqlite3_column_int64($0, 0) }.first ?? 0
    }

    /// The strings that a query returns.
    func texts(_ sql: String) throws(SQLiteFailure) -> [String] {
        try column(sql) { sqlite3_column_text($0, 0).map { String(cString: $0) } ?? "" }
    }

    /// How many rows the last statement changed, without changes by triggers.
    var changes: Int { Int(sqlite3_changes64(database)) }

    /// Runs a statement to its end and passes each row to `row`. A row is valid only during that call.
    func run(
        _ statement: SQLiteStatement, _ values: [SQLiteValue] = [], row: (SQLiteRow) -> Void = { _ in }
    ) throws(SQLiteFailure) {
        let prepared = try prepared(statement)
        defer {
            sqlite3_reset(prepared)
            sqlite3_clear_bindings(prepared)
        }
        for (index, value) in values.enumerated() { try check(bind(value, to: prepared, at: Int32(index + 1))) }
        while true {
            let code = Self.call(sqlite3_step(prepared))
            if code == SQLITE_DONE { return }
            guard code == SQLITE_ROW else { throw Self.failure(database, code) }
            row(SQLiteRow(statement: prepared))
        }
    }

    /// Runs `body` between BEGIN IMMEDIATE and COMMIT. If `body` throws, the transaction is rolled back.
    func transaction<Result>(
        _ body: () throws(SQLiteFailure) -> Result
    ) throws(SQLiteFailure) -> Result {
        try run(.begin)
        do {
            let result = try body()
            try run(.commit)
            return result
        } catch {
            // After some errors SQLite has already rolled back.
            if sqlite3_get_autocommit(database) == 0 { try? run(.rollback) }
            throw error
        }
    }

    private func prepared(_ statement: SQLiteStatement) throws(SQLiteFailure) -> OpaquePointer {
        if let prepared = statements[statement.rawValue] { return prepared }
        var prepared: OpaquePointer?
        try check(
            sqlite3_prepare_v3(database, statement.text, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &prepared, nil))
        guard let prepared else { throw SQLiteFailure(code: SQLITE_ERROR, message: "the statement is empty") }
        statements[statement.rawValue] = prepared
        return prepared
    }

    private func bind(_ value: SQLiteValue, to statement: OpaquePointer, at index: Int32) -> Int32 {
        switch value {
        case .integer(let number):
            sqlite3_bind_int64(statement, index, number)
        case .text(let text):
            csqlite_bind_text(statement, index, text, UInt64(text.utf8.count))
        case .bytes(let bytes):
            bytes.withUnsafeBytes { csqlite_bind_blob(statement, index, $0.baseAddress, UInt64($0.count)) }
        }
    }
}

/// The current row of a running statement.
struct SQLiteRow {
    fileprivate let statement: OpaquePointer

    func integer(_ column: Int32) -> Int64 {
        sqlite3_column_int64(statement, column)
    }

    /// The bytes of a blob; empty if the column is not a blob.
    func bytes(_ column: Int32) -> UnsafeRawBufferPointer {
        // The order matters: sqlite3_column_blob may convert the value, and sqlite3_column_bytes must count the
        // converted value.
        let start = sqlite3_column_blob(statement, column)
        return UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(statement, column)))
    }
}
