import Foundation

/// The file of the page. An existing file keeps its content until the page is complete, also after Ctrl-C.
struct PageFile: Sendable {
    private let name: String
    /// The path that `name` refers to, without links.
    private let path: String
    /// The mode of the existing file; `nil`: there is none yet.
    private let mode: mode_t?

    /// Throws the error that a write would throw, as far as it can be known in advance.
    init(_ name: String) throws(SickError) {
        self.name = name
        if let real = realpath(name, nil) {
            path = String(cString: real)
            free(real)
        } else {
            guard errno == ENOENT else { throw SickError.unwritable(name) }
            path = name
        }
        var status = stat()
        mode = stat(path, &status) == 0 ? status.st_mode : nil
        if mode.map({ $0 & S_IFMT }) == S_IFDIR { throw SickError.unwritable(name, EISDIR) }
        if mode != nil, access(path, W_OK) != 0 { throw SickError.unwritable(name) }
        guard isReplaced else { return }
        close(try create())
        unlink(partial)
    }

    /// Devices and pipes are written in place.
    private var isReplaced: Bool { mode.map { $0 & S_IFMT == S_IFREG } ?? true }
    /// The temporary file, which gets the final name when it is complete.
    private var partial: String { "\(path).\(getpid()).part" }

    private func create() throws(SickError) -> Int32 {
        let descriptor = open(partial, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o666)
        guard descriptor >= 0 else { throw SickError.unwritable(name) }
        return descriptor
    }

    /// Writes the page. The name never refers to an incomplete page.
    func write(_ text: String) throws(SickError) {
        guard isReplaced else {
            let descriptor = open(path, O_WRONLY | O_CLOEXEC)
            guard descriptor >= 0 else { throw SickError.unwritable(name) }
            return try write(text, to: descriptor)
        }
        let descriptor = try create()
        do throws(SickError) {
            if let mode { fchmod(descriptor, mode & 0o777) }
            try write(text, to: descriptor)
            guard rename(partial, path) == 0 else { throw SickError.unwritable(name) }
        } catch {
            unlink(partial)
            throw error
        }
    }

    /// Writes everything, and closes the descriptor.
    private func write(_ text: String, to descriptor: Int32) throws(SickError) {
        var failure: Int32 = 0
        Array(text.utf8).withUnsafeBytes { bytes in
            var rest = bytes
            while failure == 0, !rest.isEmpty {
                let count = Foundation.write(descriptor, rest.baseAddress, rest.count)
                if count >= 0 {
                    rest = UnsafeRawBufferPointer(rebasing: rest[count...])
                } else if errno != EINTR {
                    failure = errno
                }
            }
        }
        if close(descriptor) != 0, failure == 0 { failure = errno }
        if failure != 0 { throw SickError.unwritable(name, failure) }
    }
}

extension SickError {
    static func unwritable(_ name: String, _ number: Int32 = errno) -> SickError {
        SickError("cannot write '\(name)': \(String(cString: strerror(number)))")
    }
}
