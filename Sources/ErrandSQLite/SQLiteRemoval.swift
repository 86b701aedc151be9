import Errand

/// A selection of records to remove.
enum SQLiteRemoval: Hashable, Sendable {
    case key(CacheKey)
    case tag(String)
    /// The records stored before that time, in milliseconds since 1970.
    case older(than: Int64)
    case namespace(String)
    case all

    var statement: SQLiteStatement {
        switch self {
        case .key: .removeKey
        case .tag: .removeTag
        case .older: .removeOld
        case .namespace: .removeNamespace
        case .all: .removeAll
        }
    }

    var values: [SQLiteValue] {
        switch self {
        case .key(let key): [.text(key.namespace), .text(key.digest)]
        case .tag(let tag): [.text(tag)]
        case .older(let instant): [.integer(instant)]
        case .namespace(let namespace): [.text(namespace)]
        case .all: []
        }
    }

    /// Whether much of the file may be unused after the removal.
    var isLarge: Bool {
        switch self {
        case .namespace, .all: true
        case .key, .tag, .older: false
        }
    }
}
