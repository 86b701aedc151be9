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
    private var process: Process?

    /// `bytesPerSecond`: how fast a response is sent; `nil`: at once.
    init(_ name: String, bytesPerSecond: Int? = nil) throws {
        self.name = name
        port = try Self.freePort()
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
        try? FileManager.default.removeItem(at: directory)
    }

    var url: String { "http://127.0.0.1:\(port)" }

    /// Returns when the server accepts connections.
    func start() async throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/sbin/nginx")
        process.arguments = ["-e", "\(directory.path)/error.log", "-c", "\(directory.path)/nginx.conf"]
        process.standardError = FileHandle.nullDevice
        try process.run()
        self.process = process
        try await waitUntil("nginx \(name) listens") { Self.connects(to: port) }
    }

    /// Ends the server at once, with its connections.
    func kill() {
        guard let process = process.take() else { return }
        Glibc.kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }

    private static func withSocket<Value>(_ port: Int, _ body: (Int32, UnsafePointer<sockaddr>, socklen_t) -> Value)
        -> Value
    {
        let socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(socket) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(UInt16(port)).bigEndian
        address.sin_addr = in_addr(s_addr: UInt32(INADDR_LOOPBACK).bigEndian)
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }

    private static func connects(to port: Int) -> Bool {
        withSocket(port) { connect($0, $1, $2) == 0 }
    }

    private static func freePort() throws -> Int {
        let found = withSocket(0) { socket, address, length -> Int in
            guard bind(socket, address, length) == 0 else { return 0 }
            var bound = sockaddr_in()
            var size = length
            let code = withUnsafeMutablePointer(to: &bound) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(socket, $0, &size) }
            }
            return code == 0 ? Int(UInt16(bigEndian: bound.sin_port)) : 0
        }
        guard found > 0 else { throw POSIXError(.EADDRNOTAVAIL) }
        return found
    }
}
