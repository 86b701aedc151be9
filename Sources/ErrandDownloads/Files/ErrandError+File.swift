import Glibc

extension ErrandError {
    /// The error for a failed call on a file; `what` describes the failure of `path`: "cannot be opened".
    static func file(_ path: String, _ what: String, errno number: Int32) -> ErrandError {
        file(kind(ofErrno: number), path, "\(what): \(SystemError(number).text)", errno: number)
    }

    /// The same with a known error code.
    static func file(_ code: Code, _ path: String, _ what: String, errno number: Int32 = 0) -> ErrandError {
        ErrandError(code, details: Details(message: "\(path.debugDescription) \(what)", systemErrorCode: number))
    }

    private static func kind(ofErrno number: Int32) -> Code {
        switch number {
        case _ where SystemError(number).isOutOfSpace: .diskFull
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
