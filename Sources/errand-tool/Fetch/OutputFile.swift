import Foundation

/// The file of `-o`. Bytes go to a new file in the same folder. It gets the final name when the download is complete,
/// so that the name never refers to a partial file. An existing file keeps its mode, and a symbolic link stays a link.
/// Devices and pipes are written in place. A value has one owner at a time. Calls block, so they must not be made on
/// loop threads.
struct OutputFile: ~Copyable {
    private let path: String
    /// The path of the partial file; `nil`: the file is written in place, or already has its name.
    private(set) var partial: String?
    private var descriptor: Int32
    private(set) var written: UInt64 = 0

    struct Failure: Error {
        let number: Int32

        init(_ number: Int32 = errno) {
            self.number = number
        }
    }

    /// `mode`: the mode for a file that does not exist yet.
    init(_ name: String, mode: mode_t = 0o666) throws(Failure) {
        path = OutputFile.resolved(name)
        (partial, descriptor) = try OutputFile.open(path, mode: mode)
    }

    private static func open(_ path: String, mode given: mode_t) throws(Failure) -> (
        partial: String?, descriptor: Int32
    ) {
        var status = stat()
        let exists = stat(path, &status) == 0
        guard exists || errno == ENOENT else { throw Failure() }
        guard !exists || status.st_mode & S_IFMT == S_IFREG else {
            let descriptor = Foundation.open(path, O_WRONLY | O_CLOEXEC)
            guard descriptor >= 0 else { throw Failure() }
            return (nil, descriptor)
        }
        // Renaming needs no write permission on the file itself, but a user who may not write the file must not replace
        // it.
        guard !exists || access(path, W_OK) == 0 else { throw Failure() }
        let mode = status.st_mode & 0o777
        let (partial, descriptor) = try create(beside: path, mode: exists ? mode : given)
        if exists {
            // Changes the owner first, because that may clear mode bits. Only root may change it; if another user
            // replaces the file, the user owns the new file.
            _ = fchown(descriptor, status.st_uid, status.st_gid)
            guard fchmod(descriptor, mode) == 0 else {
                let failure = Failure()
                close(descriptor)
                unlink(partial)
                throw failure
            }
        }
        return (partial, descriptor)
    }

    /// Creates a new file in the same folder, so that it can be renamed to `path`.
    private static func create(beside path: String, mode: mode_t) throws(Failure) -> (String, Int32) {
        var prefix = path + "."
        for _ in 0..<100 {
            let partial = prefix + String(UInt32.random(in: .min ... .max), radix: 36) + ".part"
            let descriptor = Foundation.open(partial, O_WRONLY | O_CLOEXEC | O_CREAT | O_EXCL, mode)
            if descriptor >= 0 { return (partial, descriptor) }
            switch errno {
            case EEXIST: break
            // The name itself fits, but is too long with a suffix.
            case ENAMETOOLONG: prefix = folder(of: path) + "/errand."
            default: throw Failure()
            }
        }
        throw Failure(EEXIST)
    }

    /// The path that a write to `path` reaches, without links, `.` and `..`. The file need not exist yet. Two names of
    /// one file have the same resolved path.
    static func resolved(_ path: String) -> String {
        var path = path
        // Linux follows 40 links at most; `open` reports a cycle.
        for _ in 0..<40 {
            if let real = real(path) { return real }
            guard let target = try? FileManager.default.destinationOfSymbolicLink(atPath: path) else { break }
            path = target.hasPrefix("/") ? target : folder(of: path) + "/" + target
        }
        guard !path.isEmpty, !path.hasSuffix("/"), let folder = real(folder(of: path)) else { return path }
        let name = path.split(separator: "/").last ?? ""
        return (folder == "/" ? "" : folder) + "/" + name
    }

    private static func folder(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    private static func real(_ path: String) -> String? {
        guard let real = realpath(path, nil) else { return nil }
        defer { free(real) }
        return String(cString: real)
    }

    mutating func write(_ bytes: UnsafeRawBufferPointer) throws(Failure) {
        guard Descriptor.write(bytes, to: descriptor) else { throw Failure() }
        written += UInt64(bytes.count)
    }

    /// Gives the file its name. If that fails, the partial file is removed.
    mutating func finish() throws(Failure) {
        let failed = close(descriptor) != 0
        descriptor = -1
        guard !failed else { throw Failure() }
        guard let partial else { return }
        guard rename(partial, path) == 0 else { throw Failure() }
        self.partial = nil
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
        if let partial { unlink(partial) }
    }
}

extension OutputFile {
    /// Writes all bytes to the file. Returns what went wrong.
    static func save(_ bytes: [UInt8], to path: String, mode: mode_t) -> FetchResult.Failure? {
        do throws(Failure) {
            var file = try OutputFile(path, mode: mode)
            try file.write(bytes)
            try file.finish()
            return nil
        } catch {
            return .output(path, errno: error.number)
        }
    }

    mutating func write(_ bytes: [UInt8]) throws(Failure) {
        let failure = bytes.withUnsafeBytes { bytes -> Failure? in
            do throws(Failure) {
                try write(bytes)
                return nil
            } catch {
                return error
            }
        }
        if let failure { throw failure }
    }
}
