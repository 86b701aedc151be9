internal import CErrandFaultServer
import Foundation

/// A scripted HTTP/1 server that misbehaves on demand, for tests over loopback.
///
/// ```swift
/// let server = try ScriptedServer()
/// try server.on("/half", [.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc"), .finish])
/// // a GET of server.url("/half") ends with an incomplete body
/// ```
///
/// It listens on 127.0.0.1 at a port of the kernel's choice, or on a unix socket. A path without a script is answered
/// 404. Every method may be called from any thread. It stops, and joins its threads, when the last reference goes.
public final class ScriptedServer: Sendable {
    // The C server locks itself; the pointer is set once and destroyed in deinit, when no other reference is left.
    nonisolated(unsafe) private let server: OpaquePointer

    /// The port it listens at; 0 on a unix socket.
    public let port: Int

    /// Starts a server.
    ///
    /// - Parameter unixSocketPath: listen on this socket instead, which is made here and removed at the end.
    /// - Throws: `POSIXError` where the socket or the thread cannot be had.
    public init(unixSocketPath: String? = nil) throws {
        var created: OpaquePointer?
        let code = errand_fault_server_create(unixSocketPath, &created)
        guard code == 0, let created else {
            throw POSIXError(POSIXErrorCode(rawValue: code) ?? .EIO)
        }
        server = created
        port = Int(errand_fault_server_port(created))
    }

    deinit {
        errand_fault_server_destroy(server)
    }

    /// The address of a path on this server, `http://127.0.0.1:PORT/path`.
    public func url(_ path: String = "/") -> String {
        "http://127.0.0.1:\(port)\(path)"
    }

    /// What to do for requests to `path`, the target up to a `?`; `nil`: for those to paths without a script.
    ///
    /// The steps start with the request's head read. Several scripts of one path are used in the order in which they
    /// were added, one a request, the last for all that follow. After the last step the next request is served.
    /// - Throws: `POSIXError(.ENOMEM)`.
    public func on(_ path: String?, _ steps: [Step]) throws {
        try Step.withCSteps(steps) { errand_fault_server_on_path(server, path, $0, $1) }
    }

    /// What to do on the n-th connection, from 1, before its first request is read; 0: on each that has no script of
    /// its own.
    /// - Throws: `POSIXError(.ENOMEM)`.
    public func onConnection(_ number: Int, _ steps: [Step]) throws {
        try Step.withCSteps(steps) {
            errand_fault_server_on_connection(server, UInt64(clamping: number), $0, $1)
        }
    }

    /// Ends the `stall` steps, those under way and those to come.
    public func release() {
        errand_fault_server_release(server)
    }

    /// From now on `stall` steps wait again.
    public func hold() {
        errand_fault_server_hold(server)
    }

    /// What the server has seen so far.
    public var counts: Counts {
        var counts = errand_fault_counts()
        errand_fault_server_counts(server, &counts)
        return Counts(counts)
    }

    /// The requests whose head has been read, oldest first.
    public var requests: [RecordedRequest] {
        var requests: [RecordedRequest] = []
        var view = errand_fault_request()
        while errand_fault_server_request(server, requests.count, &view) != 0 {
            requests.append(RecordedRequest(view))
        }
        return requests
    }

    /// Waits, blocking the thread, until each count is at least that of `least`.
    ///
    /// - Parameters:
    ///   - least: The counts to wait for.
    ///   - seconds: How long to wait at most; default 10.
    /// - Returns: whether that came about in time.
    @discardableResult
    public func wait(for least: Counts, seconds: Double = 10) -> Bool {
        var counts = least.cCounts
        return errand_fault_server_wait(server, &counts, UInt32(max(0, min(seconds, 3600)) * 1000)) != 0
    }
}
