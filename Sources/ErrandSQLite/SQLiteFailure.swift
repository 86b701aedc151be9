import CSQLite
import Errand
import Glibc

/// What SQLite said no with.
struct SQLiteFailure: Error {
    /// The extended result code.
    let code: Int32
    /// `errno` beneath it where a system call failed; else it says nothing.
    let systemError: Int32
    let message: String

    init(code: Int32, systemError: Int32 = 0, message: String) {
        self.code = code
        self.systemError = systemError
        self.message = message
    }

    /// What is to be done about it.
    enum Remedy {
        /// Tell the caller; the next call may do better.
        case tell(CacheStoreError)
        /// Write nothing for a while.
        case pauseWrites(CacheStoreError)
        /// Open the file again: it, or what it holds, was exchanged.
        case reopen(CacheStoreError)
        /// Put the file aside and begin a new one.
        case replace(CacheStoreError)
        /// Close, and try again after a while.
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
        case SQLITE_BUSY, SQLITE_LOCKED, SQLITE_PROTOCOL: return .tell(.locked.with(message: text))
        // SQLITE_READONLY_DBMOVED: the name now is another file's, or none's.
        case SQLITE_READONLY where code == SQLITE_READONLY | (4 << 8): return .reopen(.readOnly.with(message: text))
        case SQLITE_READONLY: return .pauseWrites(.readOnly.with(message: text))
        case SQLITE_CANTOPEN, SQLITE_PERM, SQLITE_AUTH: return .switchOff(.pathRefused.with(message: text))
        case SQLITE_TOOBIG: return .tell(.recordTooLarge.with(message: text))
        case SQLITE_NOMEM: return .tell(.unavailable.with(message: text))
        // Open since before a fork.
        case SQLITE_MISUSE: return .switchOff(.unavailable.with(message: text))
        // Tables that are not there or not as they should be.
        case SQLITE_ERROR, SQLITE_SCHEMA, SQLITE_CONSTRAINT, SQLITE_MISMATCH:
            return .reopen(.corrupt.with(message: text))
        default: return .switchOff(.ioFailed.with(message: text))
        }
    }

    /// SQLite itself takes only ENOSPC for a full disk.
    private var isOutOfSpace: Bool {
        [ENOSPC, EDQUOT, EFBIG].contains(systemError)
    }
}
