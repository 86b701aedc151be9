import Errand
import Glibc

extension RequestDescription {
    /// Whether the receiver writes the body.
    var isWritten: Bool {
        switch body {
        case .stream, .source: true
        case .none, .bytes, .data, .shared, .file: false
        }
    }

    /// The body, from memory or from its file; empty for a body that the receiver writes. Blocks while it reads a file.
    /// It reads at most `limit` bytes and one more, which shows that the file is longer. A file that cannot be read
    /// gives an empty body here; the engine reports the error.
    func readBody(atMost limit: Int) -> [UInt8] {
        guard case .file(let path, let offset, let length) = body else { return bodyBytes }
        // O_NONBLOCK: opening a pipe would wait for its writer.
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard file >= 0 else { return [] }
        defer { close(file) }
        var status = stat()
        guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return [] }
        let wanted = min(limit == .max ? Int64.max : Int64(limit) + 1, length ?? .max)
        var position = Int64(clamping: offset)
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 64 << 10)
        while Int64(bytes.count) < wanted {
            let count = pread(file, &chunk, min(chunk.count, Int(wanted) - bytes.count), off_t(position))
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { break }
            bytes += chunk[..<count]
            position += Int64(count)
        }
        return bytes
    }
}
