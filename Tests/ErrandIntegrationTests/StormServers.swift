import ErrandTesting
import Foundation

/// The servers of a storm. They stand outside of the process that storms, so that it has nothing but what the client
/// takes.
struct StormServers {
    /// Where they are, for the process that storms.
    struct Addresses: Codable, Sendable {
        /// An nginx.
        var site: String
        /// Two scripted servers: a redirect from one to the other leaves the origin.
        var near: String
        var far: String
        /// A third one, which asks for Digest credentials; once it has, it does so for whatever comes on that connection.
        var guarded: String
        /// Nobody listens there.
        var nobody: String
    }

    private let near: ScriptedServer
    private let far: ScriptedServer
    private let guarded: ScriptedServer
    private let nobody: FaultPort
    let addresses: Addresses

    init() throws {
        near = try ScriptedServer()
        far = try ScriptedServer()
        guarded = try ScriptedServer()
        nobody = try FaultPort(.refused)
        addresses = Addresses(
            site: try Nginx.shared.get().url(""), near: near.url(""), far: far.url(""),
            guarded: guarded.url(""), nobody: "http://127.0.0.1:\(nobody.number)")
        try Self.script(near, other: addresses)
        try Self.script(far, other: addresses)
        try guarded.on("/digest", [.digest(username: "ada", password: "secret"), .send(Self.small)])
    }

    private static let small = "HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\nhello world\n"

    private static func script(_ server: ScriptedServer, other: Addresses) throws {
        func redirect(_ location: String) -> [ScriptedServer.Step] {
            [.send("HTTP/1.1 302 Found\r\nLocation: \(location)\r\nContent-Length: 0\r\n\r\n")]
        }
        try server.on("/small", [.send(small)])
        try server.on("/hop/1", redirect("/small"))
        try server.on("/hop/2", redirect("/hop/1"))
        try server.on("/hop/3", redirect("/hop/2"))
        try server.on("/away", redirect("\(other.far)/hop/1"))
        try server.on("/broken", [.send("HTTP/1.1 500 Oops\r\nContent-Length: 4\r\n\r\noops")])
        try server.on("/reset", [.reset])
        try server.on("/half", [.send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf"), .finish])
        try server.on("/drip", [.send("HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\n"), .drip("x", milliseconds: 5)])
        try server.on("/upload", [.readBody, .send(small)])
    }
}
