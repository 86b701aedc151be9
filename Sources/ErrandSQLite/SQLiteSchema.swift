/// The tables of the database, and the check of files that this version did not create.
enum SQLiteSchema {
    /// `application_id` in the file's header ("Errd"): distinguishes our file from other programs' databases.
    static let applicationID: Int64 = 0x4572_7264
    /// `user_version`; incremented with every change of the tables.
    static let version: Int64 = 1

    /// Triggers update the totals, so that the totals stay correct whichever program writes and whatever fails in the
    /// middle. The content of a record and its time of use are in separate tables, because updating the time would
    /// otherwise rewrite the content too.
    static let tables = """
        CREATE TABLE record (
          id INTEGER PRIMARY KEY, namespace TEXT NOT NULL, digest TEXT NOT NULL,
          stored_at INTEGER NOT NULL, used_at INTEGER NOT NULL, size INTEGER NOT NULL,
          UNIQUE (namespace, digest));
        CREATE INDEX record_used ON record (used_at);
        CREATE INDEX record_stored ON record (stored_at);
        CREATE TABLE content (id INTEGER PRIMARY KEY, data BLOB NOT NULL);
        CREATE TABLE tag (name TEXT NOT NULL, record INTEGER NOT NULL, PRIMARY KEY (name, record)) WITHOUT ROWID;
        CREATE INDEX tag_record ON tag (record);
        CREATE TABLE total (id INTEGER PRIMARY KEY, entries INTEGER NOT NULL, bytes INTEGER NOT NULL);
        INSERT INTO total VALUES (0, 0, 0);
        CREATE TRIGGER record_inserted AFTER INSERT ON record BEGIN
          UPDATE total SET entries = entries + 1, bytes = bytes + new.size;
        END;
        CREATE TRIGGER record_resized AFTER UPDATE OF size ON record BEGIN
          UPDATE total SET bytes = bytes + new.size - old.size;
        END;
        CREATE TRIGGER record_deleted AFTER DELETE ON record BEGIN
          DELETE FROM content WHERE id = old.id;
          DELETE FROM tag WHERE record = old.id;
          UPDATE total SET entries = entries - 1, bytes = bytes - old.size;
        END;
        PRAGMA application_id = \(applicationID);
        PRAGMA user_version = \(version);
        """

    /// The kind of file that was opened.
    enum Finding {
        case ours
        case empty
        /// Created by an earlier version. Its records are dropped, because they can be fetched again.
        case outdated
        /// Created by a later version: a newer program uses the file, and an older one must not delete its records.
        case newer
        /// The database of another program.
        case foreign
    }

    static func finding(_ connection: SQLiteConnection) throws(SQLiteFailure) -> Finding {
        guard try connection.integer("SELECT count(*) FROM sqlite_master") > 0 else { return .empty }
        guard try connection.integer("PRAGMA application_id") == applicationID else { return .foreign }
        let found = try connection.integer("PRAGMA user_version")
        return found == version ? .ours : found < version ? .outdated : .newer
    }

    /// Makes the tables if they are missing or outdated, in one transaction. The check is repeated inside the
    /// transaction, because other processes may do the same. Returns the final finding: ours, newer or foreign.
    static func prepare(_ connection: SQLiteConnection) throws(SQLiteFailure) -> Finding {
        let first = try finding(connection)
        guard first == .empty || first == .outdated else { return first }
        return try connection.transaction { () throws(SQLiteFailure) -> Finding in
            let found = try finding(connection)
            switch found {
            case .ours, .newer, .foreign: return found
            case .empty: break
            case .outdated:
                for table in try connection.texts("SELECT name FROM sqlite_master WHERE type = 'table'") {
                    let quoted = table.split(separator: "\"", omittingEmptySubsequences: false).joined(
                        separator: "\"\"")
                    try connection.execute("DROP TABLE IF EXISTS \"\(quoted)\"")
                }
            }
            try connection.execute(tables)
            return .ours
        }
    }
}
