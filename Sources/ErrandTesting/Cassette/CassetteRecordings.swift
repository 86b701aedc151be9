import Errand
import Glibc
import Synchronization

/// The files that cassettes of this process are recording. If two cassettes recorded one file, only the last recording
/// would be kept. Any thread.
enum CassetteRecordings {
    private static let paths = Mutex<Set<String>>([])

    /// Returns false if the file is being recorded already. The path is a result of ``path(of:)``.
    static func begin(_ path: String) -> Bool {
        paths.withLock { $0.insert(path).inserted }
    }

    static func end(_ path: String) {
        _ = paths.withLock { $0.remove(path) }
    }

    /// The path that identifies a file, whatever links lead to it. The file and its folder need not exist.
    static func path(of file: String) -> String {
        var given = (try? SymbolicLink.target(of: file)) ?? file
        var missing: [Substring] = []
        while true {
            if let real = realpath(given.isEmpty ? "." : given, nil) {
                defer { free(real) }
                return ([String(cString: real)] + missing.reversed().map(String.init)).joined(separator: "/")
            }
            guard let slash = given.lastIndex(of: "/") else {
                if !given.isEmpty { missing.append(given[...]) }
                guard !given.isEmpty else { return file }
                given = ""
                continue
            }
            let name = given[given.index(after: slash)...]
            if !name.isEmpty { missing.append(name) }
            given = slash == given.startIndex ? "/" : String(given[..<slash])
            if given == "/", name.isEmpty { return file }
        }
    }
}

/// A lock on the folder of a file, which other processes wait for. The folder is locked because a lock file beside the
/// cassette would be left behind. If the file system has no such locks, nothing is locked.
struct FolderLock {
    private static let patience = Duration.seconds(60)
    private let descriptor: Int32

    /// Waits for the lock, for a minute at most. Throws `fileLocked` after that.
    init(of path: String) throws(ErrandError) {
        let folder = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
        descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        let end = ContinuousClock.now + Self.patience
        while SystemCalls.flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            guard errno == EWOULDBLOCK || errno == EINTR else { return }
            guard ContinuousClock.now < end else {
                close(descriptor)
                throw .file(.fileLocked, path, "is being saved by another process")
            }
            usleep(2000)
        }
    }

    func release() {
        // Closing the descriptor releases the lock.
        if descriptor >= 0 { close(descriptor) }
    }
}
