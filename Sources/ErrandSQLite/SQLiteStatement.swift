/// The prepared statements of a connection.
enum SQLiteStatement: Int, CaseIterable {
    /// Takes the write lock immediately, so that all waits for it happen at this statement.
    case begin
    case commit
    case rollback
    case find
    case has
    case upsert
    case upsertContent
    case removeTags
    case addTag
    case touch
    case total
    case leastRecent
    case removeID
    case removeKey
    case removeTag
    case removeOld
    case removeNamespace
    case removeAll

    var text: String {
        switch self {
        case .begin:
            "BEGIN IMMEDIATE"
        case .commit:
            "COMMIT"
        case .rollback:
            "ROLLBACK"
        case .find:
            """
            SELECT record.id, record.stored_at, record.used_at, content.data FROM record JOIN content USING (id)
            WHERE namespace = ?1 AND digest = ?2
            """
        case .has:
            "SELECT 1 FROM record WHERE namespace = ?1 AND digest = ?2"
        case .upsert:
            """
            INSERT INTO record (namespace, digest, stored_at, used_at, size) VALUES (?1, ?2, ?3, ?4, ?5)
            ON CONFLICT (namespace, digest) DO UPDATE
            SET stored_at = excluded.stored_at, used_at = excluded.used_at, size = excluded.size RETURNING id
            """
        case .upsertContent:
            "INSERT OR REPLACE INTO content (id, data) VALUES (?1, ?2)"
        case .removeTags:
            "DELETE FROM tag WHERE record = ?1"
        case .addTag:
            "INSERT OR IGNORE INTO tag (name, record) VALUES (?1, ?2)"
        case .touch:
            "UPDATE record SET used_at = ?2 WHERE id = ?1 AND used_at < ?2"
        case .total:
            "SELECT entries, bytes FROM total"
        case .leastRecent:
            "SELECT id, size FROM record WHERE id <> ?1 ORDER BY used_at, id LIMIT 64"
        case .removeID:
            "DELETE FROM record WHERE id = ?1"
        case .removeKey:
            "DELETE FROM record WHERE namespace = ?1 AND digest = ?2"
        case .removeTag:
            "DELETE FROM record WHERE id IN (SELECT record FROM tag WHERE name = ?1)"
        case .removeOld:
            "DELETE FROM record WHERE stored_at < ?1"
        case .removeNamespace:
            "DELETE FROM record WHERE namespace = ?1"
        case .removeAll:
            "DELETE FROM record"
        }
    }
}

/// A value bound to a statement's parameter.
enum SQLiteValue {
    case integer(Int64)
    case text(String)
    case bytes([UInt8])
}
