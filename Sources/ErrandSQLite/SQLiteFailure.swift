import CSQLite
import Errand

/// A failure reported by SQLite.
struct SQLiteFailure: Error {
    /// The extended result code.
    let code: Int32
    /// The `errno` of the failed system call; without a failed system call the value has no meaning.
    let systemError: Int32
    let message: String

    init(code: Int32, systemError: Int32 = 0, message: String) {
        self.code = code
        self.systemError = systemError
        self.message = message
    }

    /// How the store reacts to the failure.
    enum Remedy {
        /// Throw to the caller; the next call may succeed.
        case report(CacheStoreError)
        /// Write nothing until the retry interval has passed.
        case pauseWrites(CacheStoreError)
        /// Open the file again: the file or its contents were replaced.
        case reopen(CacheStoreError)
        /// Put the file aside and begin a new one.
        case replace(CacheStoreError)
        /// Close the file, and try again after the retry interval.
        case switchOff(CacheStoreError)
    }

    var remedy: Remedy {
        let text = "\(message) (SQLite \(code))"
        switch code & 0xff {
        case SQLITE_FULL: return .pauseWrites(.storageFull.with(message: text))
        case SQLITE_IOERR where isOutOfSpace: return .pauseWrites(.storageFull.with(message: text))
        // The write-ahead log could not be made.
        case SQLITE_CANTOPEN where isOutOfSpace: return .switchOff(.storageFull.with(message: text))
        case SQLITE_CORRUPT, SQLITE_NOTADB: return .replace(.corrupt.with(message: text))
        case SQLITE_BUSY, SQLITE_LOCKED, SQLITE_PROTOCOL: return .report(.locked.with(message: text))
        // SQLITE_READONLY_DBMOVED: the path names another file now, or no file.
        case SQLITE_READONLY where code == SQLITE_READONLY | (4 << 8): return .reopen(.readOnly.with(message: text))
        case SQLITE_READONLY: return .pauseWrites(.readOnly.with(message: text))
        case SQLITE_CANTOPEN, SQLITE_PERM, SQLITE_AUTH: return .switchOff(.pathRefused.with(message: text))
        case SQLITE_TOOBIG: return .report(.recordTooLarge.with(message: text))
        case SQLITE_NOMEM: return .report(.unavailable.with(message: text))
        // The connection was opened before a fork.
        case SQLITE_MISUSE: return .switchOff(.unavailable.with(message: text))
        // Tables are missing or differ from the schema.
        case SQLITE_ERROR, SQLITE_SCHEMA, SQLITE_CONSTRAINT, SQLITE_MISMATCH:
            return .reopen(.corrupt.with(message: text))
        default: return .switchOff(.ioFailed.with(message: text))
        }
    }

    /// SQLite itself treats only ENOSPC as a full disk.
    private var isOutOfSpace: Bool {
        SystemError(systemError).isOutOfSpace
    }
}
