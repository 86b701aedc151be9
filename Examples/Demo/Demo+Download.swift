import Errand
import Foundation

extension Demo {
    /// Stops a download in the middle and resumes it.
    func download() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("errand-demo-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appendingPathComponent("paced.bin").path
        var download = Download("paced.bin", to: .file(file))
        download.computesSHA256 = true

        let first = client.request(download)
        first.onProgress { progress in
            if progress.bytesReceived > 4 << 20 { first.stop() }
        }
        await withCheckedContinuation { continuation in
            first.addAccessory(WhenStopped { continuation.resume() })
            first.start()
        }
        let left = try Downloads.unfinished(in: folder.path)
        print("interrupted    after \(left.first.map { "\($0.byteCount) bytes" } ?? "nothing"): \(first.state)")

        let done = try await client.run(download)
        print("download       \(done.byteCount) bytes, \(done.resumedFrom) of them from an earlier run")
        print("               SHA-256 \(done.sha256 ?? "none")")
        guard first.state == .cancelled, done.byteCount == 16 << 20, done.resumedFrom >= 3 << 20 else {
            throw DemoError("not resumed")
        }
    }
}

/// Reports the end of a run, including a stop.
private final class WhenStopped: Accessory {
    private let tell: @Sendable () -> Void
    init(_ tell: @escaping @Sendable () -> Void) { self.tell = tell }
    func requestDidStop(_ request: AnyRequest) { tell() }

    func requestWillStart(_ request: AnyRequest) {}
    func requestWillStop(_ request: AnyRequest) {}
}
