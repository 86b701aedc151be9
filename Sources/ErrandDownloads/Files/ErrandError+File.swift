import Glibc

extension ErrandError {
    /// What a failed call on a file means; `what` is said of `path`: "cannot be opened".
    static func file(_ path: String, _ what: String, errno number: Int32) -> ErrandError {
        file(kind(ofErrno: number), path, "\(what): \(String(cString: strerror(number)))", errno: number)
    }

    /// The same where the kind is known better.
    static func file(_ code: Code, _ path: String, _ what: String, errno number: Int32 = 0) -> ErrandError {
        ErrandError(code, details: Details(message: "\(path.debugDescription) \(what)", systemErrorCode: number))
    }

    private static func kind(ofErrno number: Int32) -> Code {
        switch number {
        case ENOSPC, EDQUOT, EFBIG: .diskFull
        case ENOENT, ENOTDIR: .directoryMissing
        case EACCES, EPERM, EROFS: .fileAccessDenied
        case EISDIR: .fileIsDirectory
        case EEXIST: .fileExists
        case EWOULDBLOCK: .fileLocked
        case ENOMEM: .outOfMemory
        default: .fileUnwritable
        }
    }
}
