import Errand
import FoundationEssentials
import HTTPTypes
import Testing

@testable import ErrandClient
@testable import ErrandModel

private struct Ask: Command {
    var path = "https://h/"
    var method = HTTPRequest.Method.get
    var parameters: Parameters?
    var parameterEncoding = ParameterEncoding.automatic
    var body = RequestBody.empty
    var timeouts: Timeouts?
    var limits: Limits?
    var priority = Priority.normal
    var connection: ConnectionOptions?
    var options: CommandOptions = []
}

/// What is left `nil` is inherited: from the command by an override, from the client by a command, from the library by the
/// client.
@Suite struct InheritanceTests {
    private func settings(
        _ ask: Ask, _ change: (inout RequestOverrides) -> Void = { _ in },
        client: (inout Client.Settings) -> Void = { _ in }
    ) throws(ErrandError) -> TransferSettings {
        try built(ask, change, client: client).settings
    }

    private func built(
        _ ask: Ask, _ change: (inout RequestOverrides) -> Void = { _ in },
        client: (inout Client.Settings) -> Void = { _ in }
    ) throws(ErrandError) -> RequestDescription {
        var settings = Client.Settings()
        client(&settings)
        var overrides = RequestOverrides()
        change(&overrides)
        // An engine with other options, so that what a request goes by is always to be seen.
        return try RequestBuilder(settings, engine: ConnectionOptions(localInterface: "engine"))
            .description(of: ask, overrides: overrides)
    }

    // MARK: Timeouts and limits

    @Test func timeoutsMemberByMember() throws {
        let library = try settings(Ask()).timeouts
        #expect(library == Timeouts(connect: .seconds(10), idle: .seconds(60)))
        let client: (inout Client.Settings) -> Void = { $0.timeouts = Timeouts(queue: .seconds(1), idle: .seconds(2)) }
        #expect(try settings(Ask(), client: client).timeouts.connect == .seconds(10))
        let own = Ask(timeouts: Timeouts(firstByte: .seconds(3), total: .seconds(4)))
        #expect(
            try settings(own, client: client).timeouts
                == Timeouts(
                    queue: .seconds(1), connect: .seconds(10), firstByte: .seconds(3), idle: .seconds(2),
                    total: .seconds(4)))
        let overridden = try settings(
            own, { $0.timeouts = Timeouts(idle: .seconds(5), total: .seconds(6)) }, client: client)
        #expect(
            overridden.timeouts
                == Timeouts(
                    queue: .seconds(1), connect: .seconds(10), firstByte: .seconds(3), idle: .seconds(5),
                    total: .seconds(6)))
        #expect(overridden.firstByteTimeout == 3000 && overridden.totalTimeout == 6000)
    }

    @Test func noLimitIsSaidAndInherited() throws {
        let client: (inout Client.Settings) -> Void = {
            $0.timeouts = Timeouts(idle: .noLimit, total: .seconds(9))
        }
        #expect(try settings(Ask(), client: client).timeouts == Timeouts(connect: .seconds(10), total: .seconds(9)))
        let free = try settings(Ask(timeouts: Timeouts(total: .noLimit)), client: client)
        #expect(free.timeouts.total == nil && free.totalTimeout == 0 && free.idleTimeout == 0)
        let unlimited = try settings(Ask(timeouts: .unlimited), client: client)
        #expect(unlimited.timeouts == Timeouts() && unlimited.connectTimeout == 0)
        let again = try settings(
            Ask(timeouts: .unlimited), { $0.timeouts = Timeouts(connect: .seconds(1)) }, client: client)
        #expect(again.timeouts == Timeouts(connect: .seconds(1)))
    }

    @Test func limitsMemberByMember() throws {
        let client: (inout Client.Settings) -> Void = { $0.limits = Limits(headerBytes: 1, bodyBytes: 2) }
        let own = Ask(limits: Limits(headerCount: 3, bodyBytes: 4))
        #expect(try settings(own, client: client).limits == Limits(headerBytes: 1, headerCount: 3, bodyBytes: 4))
        let overridden = try settings(own, { $0.limits = Limits(headerCount: 5, decodedBytes: 6) }, client: client)
        #expect(overridden.limits == Limits(headerBytes: 1, headerCount: 5, bodyBytes: 4, decodedBytes: 6))
    }

    // MARK: Connection

    private static let full = ConnectionOptions(
        httpVersion: .http1, encodings: .brotli,
        tls: .init(
            caFile: "/ca", clientCertificate: "/c", clientKey: "/k", clientKeyPassword: "p", pinnedKeys: ["k"],
            minimumVersion: .v1_3, insecureAcceptAnyCertificate: true, insecureAcceptAnyHostName: true),
        proxy: .url("http://p"), resolveOverrides: ["r"], unixSocketPath: "/u", localInterface: "lo",
        tcpKeepaliveSeconds: 1, idleConnectionSeconds: 2)

    /// A command that only asks for gzip loses neither the client's proxy nor its authorities and pins.
    @Test func aCommandThatOnlyAsksForGzip() throws {
        var expected = Self.full
        expected.encodings = .gzip
        let gzip = Ask(connection: ConnectionOptions(encodings: .gzip))
        #expect(try settings(gzip, client: { $0.connection = Self.full }).connection == expected)
        expected.httpVersion = .http2OverTLS
        let overridden = try settings(
            gzip, { $0.connection = ConnectionOptions(httpVersion: .http2OverTLS) },
            client: { $0.connection = Self.full })
        #expect(overridden.connection == expected)
        let timed = try settings(Ask(timeouts: .unlimited), client: { $0.connection = Self.full })
        #expect(timed.connection == Self.full)
    }

    @Test func everyMemberOfTheCommandComesFirst() throws {
        let other = ConnectionOptions(
            httpVersion: .http2PriorKnowledge, encodings: .zstd,
            tls: .init(
                caFile: "/ca2", clientCertificate: "/c2", clientKey: "/k2", clientKeyPassword: "p2", pinnedKeys: ["k2"],
                minimumVersion: .v1_2, insecureAcceptAnyCertificate: false, insecureAcceptAnyHostName: false),
            proxy: .environment, resolveOverrides: ["r2"], unixSocketPath: "/u2", localInterface: "lo2",
            tcpKeepaliveSeconds: 3, idleConnectionSeconds: 4)
        let client: (inout Client.Settings) -> Void = { $0.connection = Self.full }
        #expect(try settings(Ask(connection: other), client: client).connection == other.resolved)
    }

    @Test func theLibrarysOwnCanBeSaid() throws {
        var bare = ConnectionOptions(
            httpVersion: .automatic, encodings: [],
            tls: .init(
                pinnedKeys: [], minimumVersion: .v1_2, insecureAcceptAnyCertificate: false,
                insecureAcceptAnyHostName: false),
            proxy: .direct, resolveOverrides: [])
        bare.tls.caFile = .libraryDefault
        bare.tls.clientCertificate = .libraryDefault
        bare.unixSocketPath = .libraryDefault
        bare.localInterface = .libraryDefault
        bare.tcpKeepaliveSeconds = .libraryDefault
        bare.idleConnectionSeconds = .libraryDefault
        let client: (inout Client.Settings) -> Void = { $0.connection = Self.full }
        #expect(try settings(Ask(connection: bare), client: client).connection == ConnectionOptions(encodings: []))
    }

    @Test func keysAreLoggedWhereASettingSaysSo() throws {
        func keyLog(_ own: ConnectionOptions.TLS.KeyLog?, client: ConnectionOptions.TLS.KeyLog?) throws
            -> ConnectionOptions.TLS.KeyLog?
        {
            var options = ConnectionOptions()
            options.tls.keyLog = own
            return try settings(Ask(connection: options), client: { $0.connection.tls.keyLog = client }).connection?.tls
                .keyLog
        }
        #expect(try keyLog(nil, client: nil) == nil)
        #expect(try keyLog(nil, client: .environment) == .environment)
        #expect(try keyLog(.environment, client: .off) == .environment)
        // Off is the library's default, so it needs no connections of its own.
        #expect(try keyLog(.off, client: .environment) == nil)
    }

    @Test func aCertificateComesWithItsKey() throws {
        func tls(_ own: ConnectionOptions.TLS) throws -> ConnectionOptions.TLS? {
            let ask = Ask(connection: ConnectionOptions(tls: own))
            return try settings(ask, client: { $0.connection.tls = Self.full.tls }).connection?.tls
        }
        let other = try tls(.init(clientCertificate: "/both"))
        #expect(other?.clientCertificate == "/both" && other?.clientKey == nil && other?.clientKeyPassword == nil)
        let word = try tls(.init(clientKeyPassword: "new"))
        #expect(word?.clientCertificate == "/c" && word?.clientKey == "/k" && word?.clientKeyPassword == "new")
    }

    @Test func equalMeaningsAreEqualValues() throws {
        var said = ConnectionOptions(httpVersion: .automatic, encodings: .all, proxy: .direct)
        said.tls.caFile = .libraryDefault
        let builder = RequestBuilder(Client.Settings(), engine: said)
        #expect(try builder.description(of: Ask()).settings.connection == nil)
    }

    @Test func plainCommandsShareTheirSettings() throws {
        let builder = RequestBuilder(Client.Settings(), engine: ConnectionOptions())
        let first = try builder.description(of: Ask()).settings
        #expect(first === (try builder.description(of: Ask(path: "https://other/")).settings))
    }

    // MARK: Defaults of the client

    @Test func priorityAndOptions() throws {
        let client: (inout Client.Settings) -> Void = {
            $0.options = [.withoutCookies, .coalesced]
        }
        #expect(try settings(Ask(), client: client).priority == .normal)
        #expect(try settings(Ask(priority: .high), client: client).priority == .high)
        #expect(try settings(Ask(priority: .high), { $0.priority = .normal }, client: client).priority == .normal)
        #expect(try built(Ask(), client: client).options == .withoutCookies)
        let own = Ask(options: .freshConnection)
        #expect(try built(own, client: client).options == [.withoutCookies, .freshConnection])
        #expect(try built(own, { $0.options = [] }, client: client).options == [])
    }

    @Test func queryStyleAndEncoder() throws {
        let client: (inout Client.Settings) -> Void = {
            $0.queryStyle.arrays = .repeated
            let encoder = JSONEncoder()
            encoder.outputFormatting = .sortedKeys
            encoder.keyEncodingStrategy = .convertToSnakeCase
            $0.jsonEncoder = encoder
        }
        let list: Parameters = ["a": [1, 2]]
        #expect(try built(Ask(parameters: list), client: client).url == "https://h/?a=1&a=2")
        #expect(try built(Ask(method: .post, parameters: list), client: client).bodyBytes == Array("a=1&a=2".utf8))
        let form = Ask(parameters: list, parameterEncoding: .form)
        #expect(try built(form, client: client).bodyBytes == Array("a=1&a=2".utf8))
        let named = Ask(parameters: list, parameterEncoding: .query(.afNetworking))
        #expect(try built(named, client: client).url == "https://h/?a%5B%5D=1&a%5B%5D=2")
        let body = RequestBody.json(["bC": 1, "a": 2])
        for (body, isZipped) in [(body, false), (body.gzipped(), true)] {
            let sent = try built(Ask(method: .post, body: body), client: client).bodyBytes
            #expect(isZipped || sent == Array(#"{"a":2,"bC":1}"#.utf8))
        }
        struct Value: Encodable { var userName = 1 }
        let value = try built(Ask(method: .post, body: .json(Value())), client: client)
        #expect(value.bodyBytes == Array(#"{"user_name":1}"#.utf8))
        let own = try built(Ask(method: .post, body: .json(Value(), encoder: JSONEncoder())), client: client)
        #expect(own.bodyBytes == Array(#"{"userName":1}"#.utf8))
    }

    /// An equal value of its own would be another pool of connections.
    @Test func whatIsTheClientsOwnAfterAllIsNotSaidAgain() throws {
        var configuration = Client.Configuration()
        configuration.connection = ConnectionOptions(encodings: [.gzip], tls: .init(caFile: "/own.pem"))
        let builder = RequestBuilder(configuration)
        func said(_ options: ConnectionOptions) throws -> ConnectionOptions? {
            try builder.description(of: Ask(connection: options)).settings.connection
        }
        #expect(try said(ConnectionOptions()) == nil)
        #expect(try said(ConnectionOptions(httpVersion: .automatic)) == nil)
        #expect(try said(ConnectionOptions(encodings: [.gzip])) == nil)
        #expect(try said(ConnectionOptions(encodings: [])) != nil)
    }
}
