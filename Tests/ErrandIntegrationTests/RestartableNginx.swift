import ErrandTesting
import Foundation
import Glibc
import Testing

/// A real nginx on one loopback port, which can be killed and started again. It answers every path with a body of 3,000
/// bytes and its name in `X-Server`. It ends with this object.
final class RestartableNginx {
    let name: String
    let port: Int
    private let directory: URL
    /// Bound to the port and not listening: while nginx is down, the port refuses connections, and nobody else gets it.
    private let place: Int32
    private var run: ProgramRun?

    /// `bytesPerSecond`: how fast a response is sent; `nil`: at once.
    init(_ name: String, bytesPerSecond: Int? = nil) throws {
        self.name = name
        let taken = try Self.takePort()
        place = taken.socket
        port = taken.port
        directory = FileManager.default.temporaryDirectory.appendingPathComponent("errand-nginx-\(UUID().uuidString)")
        for folder in ["www", "tmp"] {
            try FileManager.default.createDirectory(
                at: directory.appendingPathComponent(folder), withIntermediateDirectories: true)
        }
        try Data(repeating: 0x61, count: 3000).write(to: directory.appendingPathComponent("www/index"))
        let temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
            .map { "\($0)_temp_path \(directory.path)/tmp;" }.joined(separator: " ")
        let configuration = """
            daemon off; master_process off; worker_processes 1;
            pid \(directory.path)/nginx.pid; error_log \(directory.path)/error.log;
            events { worker_connections 512; }
            http {
              access_log off; \(temporary)
              server {
                listen 127.0.0.1:\(port);
                root \(directory.path)/www;
                add_header X-Server \(name);
                \(bytesPerSecond.map { "limit_rate \($0);" } ?? "")
                location / { try_files /index =404; }
              }
            }
            """
        try Data(configuration.utf8).write(to: directory.appendingPathComponent("nginx.conf"))
    }

    deinit {
        kill()
        close(place)
        try? FileManager.default.removeItem(at: directory)
    }

    var url: String { "http://127.0.0.1:\(port)" }

    /// Returns when the server accepts connections.
    func start() async throws {
        run = try ProgramRun(
            "/usr/sbin/nginx", ["-e", "\(directory.path)/error.log", "-c", "\(directory.path)/nginx.conf"])
        try await waitUntil("nginx \(name) listens") { Self.connects(to: port) }
    }

    /// Ends the server at once, with its connections.
    func kill() {
        run.take()?.kill()
    }

    private static func withAddress<Value>(_ port: Int, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Value) -> Value
    {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(UInt16(port)).bigEndian
        address.sin_addr = in_addr(s_addr: UInt32(INADDR_LOOPBACK).bigEndian)
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }

    private static func connects(to port: Int) -> Bool {
        let socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(socket) }
        return withAddress(port) { connect(socket, $0, $1) == 0 }
    }

    /// A socket at a free port. nginx, which sets `SO_REUSEADDR` as this socket does, can bind the port too, and no other
    /// socket can: neither by `bind` with the port 0 nor by `connect`.
    private static func takePort() throws -> (socket: Int32, port: Int) {
        let socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var isShared: Int32 = 1
        var bound = sockaddr_in()
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound =
            setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &isShared, socklen_t(MemoryLayout<Int32>.size)) == 0
            && withAddress(0) { bind(socket, $0, $1) == 0 }
        let code = withUnsafeMutablePointer(to: &bound) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(socket, $0, &size) }
        }
        guard isBound, code == 0 else {
            close(socket)
            throw POSIXError(.EADDRNOTAVAIL)
        }
        return (socket, Int(UInt16(bigEndian: bound.sin_port)))
    }
}
