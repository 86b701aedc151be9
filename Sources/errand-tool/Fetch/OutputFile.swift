import Foundation

/// The file of `-o`. Bytes go to a new file beside it, which takes the name when the download is whole, so that nobody
/// finds half a file under it. What was there before keeps its mode, and a symbolic link stays one. Devices and pipes
/// are written in place. One owner at a time; blocks, so not for loop threads.
struct OutputFile: ~Copyable {
    private let path: String
    /// `nil`: written in place, or it has its name.
    private var partial: String?
    private var descriptor: Int32
    private(set) var written: UInt64 = 0

    struct Failure: Error {
        let number: Int32

        init(_ number: Int32 = errno) {
            self.number = number
        }
    }

    /// `mode`: of a file that is not there yet.
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
        // Renaming needs no right to the file itself, but who may not write it must not replace it.
        guard !exists || access(path, W_OK) == 0 else { throw Failure() }
        let mode = status.st_mode & 0o777
        let (partial, descriptor) = try create(beside: path, mode: exists ? mode : given)
        if exists {
            // The owner first, because that may clear mode bits. Only root may; for others it stays theirs.
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

    /// A file that was not there, in the same folder, so that it can be renamed.
    private static func create(beside path: String, mode: mode_t) throws(Failure) -> (String, Int32) {
        var prefix = path + "."
        for _ in 0..<100 {
            let partial = prefix + String(UInt32.random(in: .min ... .max), radix: 36) + ".part"
            let descriptor = Foundation.open(partial, O_WRONLY | O_CLOEXEC | O_CREAT | O_EXCL, mode)
            if descriptor >= 0 { return (partial, descriptor) }
            switch errno {
            case EEXIST: break
            // The name itself fits, with more added to it does not.
            case ENAMETOOLONG: prefix = folder(of: path) + "/errand."
            default: throw Failure()
            }
        }
        throw Failure(EEXIST)
    }

    /// Where writing to `path` ends up: no links, no `.` and `..`; also where there is nothing yet. Two names of one
    /// file have one resolved path.
    static func resolved(_ path: String) -> String {
        var path = path
        // As many as Linux follows; a circle is told by open.
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

    /// Gives the file its name. Where that fails, nothing stays.
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
    /// Saves it all. Answers what went wrong.
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
