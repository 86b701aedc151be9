import Glibc

/// The destination of a download. Paths are absolute, or relative to the working directory at the time when the request
/// is made.
public enum DownloadDestination: Sendable, Hashable {
    /// A file with this path.
    case file(String)
    /// A file in this directory. Its name comes from the response's `Content-Disposition` (RFC 6266), else from the
    /// last segment of the URL after redirects, else it is `download`. The name is made safe: it is one path component
    /// of at most 224 bytes without control characters, leading dots and other dangerous characters.
    case directory(String)

    /// The same destination with an absolute path; unchanged if the working directory no longer exists.
    var absolute: DownloadDestination {
        switch self {
        case .file(let path): .file(Self.absolute(path))
        case .directory(let path): .directory(Self.absolute(path))
        }
    }

    private static func absolute(_ path: String) -> String {
        guard path.utf8.first != UInt8(ascii: "/"), let buffer = getcwd(nil, 0) else { return path }
        defer { free(buffer) }
        let base = String(cString: buffer)
        if path.isEmpty || path == "." { return base }
        return base == "/" ? "/" + path : base + "/" + path
    }
}

/// What a download does with a file that exists at its destination.
public enum OverwritePolicy: Sendable, Hashable {
    /// The file stays until the new one is complete and is then replaced in one step. If the caller named a symbolic
    /// link, the file that it points to is replaced. Any other symbolic link, a device or a pipe is not replaced, and
    /// the download fails with ``ErrandError/fileExists``.
    case replace
    /// Fails with ``ErrandError/fileExists``: before anything is sent, or at the end if the file appeared meanwhile.
    /// If the SHA-256 of the existing file is ``Download/sha256``, it already is the requested content: the download
    /// succeeds with that file and fetches nothing.
    case fail
    /// Uses `name (1).txt`, or the next number that is free at the end of the download.
    case number
}
