import Glibc

extension ErrandError {
    /// The error for a failed call on a file that is written; `problem` describes the failure of `path`: "cannot be
    /// opened".
    package static func file(_ path: String, _ problem: String, errno number: Int32) -> ErrandError {
        file(kind(ofErrno: number), path, "\(problem): \(SystemError(number).text)", errno: number)
    }

    /// The same with a known error code.
    package static func file(_ code: Code, _ path: String, _ problem: String, errno number: Int32 = 0) -> ErrandError {
        ErrandError(code, details: Details(message: "\(path.debugDescription) \(problem)", systemErrorCode: number))
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
