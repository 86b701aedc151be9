import Glibc

/// Where a download goes. Paths are absolute, or relative to the working directory of the moment when the request is made.
public enum DownloadDestination: Sendable, Hashable {
    /// A file of this name.
    case file(String)
    /// A file in this directory, named as the response's `Content-Disposition` says (RFC 6266), else by the URL's last
    /// segment, after redirects, else `download`; made safe: one path component without control characters, leading dots
    /// and what else a server might have in mind, of at most 224 bytes.
    case directory(String)

    /// The same with an absolute path; as it is where the working directory is gone.
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
