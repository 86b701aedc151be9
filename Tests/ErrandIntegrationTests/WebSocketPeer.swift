import ErrandTesting
import Foundation

/// A WebSocket server of PyPI's: `Tests/Support/websockets-peer` or `wsproto-peer`.
final class WebSocketPeer: Sendable {
    struct StartError: Error, CustomStringConvertible {
        let description: String
    }

    /// What the server said first: ports, and the file of its certificate.
    let words: [String]
    private let child: ChildProcess

    /// Whether Debian's python3-websockets and python3-wsproto are installed: `scripts/setup` tries to.
    static let areInstalled = ["websockets", "wsproto"].allSatisfy {
        FileManager.default.fileExists(atPath: "/usr/lib/python3/dist-packages/\($0)")
    }

    init(_ name: String) throws {
        let script = URL(fileURLWithPath: #filePath)
            .deletingLastPathComponent().deletingLastPathComponent()
            .appendingPathComponent("Support/\(name)-peer").path
        child = try ChildProcess(script)
        guard let line = child.readLine() else {
            throw StartError(description: "\(script) did not start; standard error has its messages")
        }
        words = line.split(separator: " ").map(String.init)
    }

    deinit {
        child.stop()
    }
}
