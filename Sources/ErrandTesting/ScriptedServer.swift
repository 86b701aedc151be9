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
/// It listens on 127.0.0.1 at a port that the kernel chooses, or on a unix socket. A path without a script is answered
/// 404. Every method may be called from any thread. The server stops and joins its threads when the last reference is
/// released.
public final class ScriptedServer: Sendable {
    // The C server locks itself; the pointer is set once and destroyed in deinit, when no other reference is left.
    nonisolated(unsafe) private let server: OpaquePointer

    /// The port that the server listens on; 0 for a unix socket.
    public let port: Int

    /// Starts a server.
    ///
    /// - Parameter unixSocketPath: The server listens on this socket instead. The socket is made here and removed when
    ///   the server ends.
    /// - Throws: `POSIXError` if the socket or the thread cannot be created.
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

    /// Sets the steps for requests to `path`, which is compared with the target up to a `?`. With `nil` the steps are
    /// for requests to paths without a script.
    ///
    /// The steps start when the request's head has been read. Several scripts of one path are used in the order in
    /// which they were added, one for each request; the last one is used for all further requests. After the last step
    /// the server reads the next request.
    /// - Throws: `POSIXError(.ENOMEM)`.
    public func on(_ path: String?, _ steps: [Step]) throws {
        try Step.withCSteps(steps) { errand_fault_server_on_path(server, path, $0, $1) }
    }

    /// Sets the steps for the connection with that number, counted from 1. They run before the first request of the
    /// connection is read. With 0 the steps are for each connection that has no script of its own.
    /// - Throws: `POSIXError(.ENOMEM)`.
    public func onConnection(_ number: Int, _ steps: [Step]) throws {
        try Step.withCSteps(steps) {
            errand_fault_server_on_connection(server, UInt64(clamping: number), $0, $1)
        }
    }

    /// Ends the current `stall` steps and all later ones.
    public func release() {
        errand_fault_server_release(server)
    }

    /// Later `stall` steps wait again.
    public func hold() {
        errand_fault_server_hold(server)
    }

    /// The totals of what the server has seen so far.
    public var counts: Counts {
        var counts = errand_fault_counts()
        errand_fault_server_counts(server, &counts)
        return Counts(counts)
    }

    /// The requests whose head has been read, in order of arrival.
    public var requests: [RecordedRequest] {
        var requests: [RecordedRequest] = []
        var view = errand_fault_request()
        while errand_fault_server_request(server, requests.count, &view) != 0 {
            requests.append(RecordedRequest(view))
        }
        return requests
    }

    /// Blocks the thread until each count is at least that of `least`.
    ///
    /// - Parameters:
    ///   - least: The counts to wait for.
    ///   - seconds: The longest wait; default 10.
    /// - Returns: Whether the counts were reached in time.
    @discardableResult
    public func wait(for least: Counts, seconds: Double = 10) -> Bool {
        var counts = least.cCounts
        return errand_fault_server_wait(server, &counts, UInt32(max(0, min(seconds, 3600)) * 1000)) != 0
    }
}
