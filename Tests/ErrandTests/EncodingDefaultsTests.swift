import Errand
import ErrandTesting
import HTTPTypes
import Testing

@testable import ErrandClient
@testable import ErrandEngine
@testable import ErrandModel

private struct Ask: Command {
    var path = "http://h/"
    var headers = HTTPFields()
    var connection: ConnectionOptions?
    var customRequest: CustomRequest?
}

/// Content encodings are asked for by default, and by choice not.
@Suite struct EncodingDefaultsTests {
    private func built(
        _ command: some Command, _ change: (inout Client.Settings) -> Void = { _ in },
        overrides: RequestOverrides? = nil
    ) throws(ErrandError) -> RequestDescription {
        var settings = Client.Settings()
        change(&settings)
        // An engine with other options, so that what a request goes by is always to be seen.
        return try RequestBuilder(settings, engine: ConnectionOptions(localInterface: "engine"))
            .description(of: command, overrides: overrides)
    }

    private func encodings(
        _ command: some Command, _ change: (inout Client.Settings) -> Void = { _ in },
        overrides: RequestOverrides? = nil
    ) throws(ErrandError) -> ConnectionOptions.Encodings? {
        try built(command, change, overrides: overrides).settings.connection?.encodings
    }

    @Test func allThatTheCoreKnowsIsAskedFor() throws {
        #expect(try encodings(Ask()) == .all)
        #expect(try encodings(Ask(connection: ConnectionOptions(localInterface: "lo"))) == .all)
        #expect(try RequestBuilder(Client.Configuration()).description(of: Ask()).settings.connection == nil)
    }

    @Test func noneIsAskedForByChoice() throws {
        #expect(try encodings(Ask(), { $0.connection.encodings = [] }) == [])
        #expect(try encodings(Ask(connection: ConnectionOptions(encodings: []))) == [])
        let gzip = Ask(connection: ConnectionOptions(encodings: .gzip))
        #expect(try encodings(gzip, { $0.connection.encodings = [] }) == .gzip)
    }

    /// What is asked for by hand is left as it comes.
    @Test func aFieldOfOnesOwnTurnsDecodingOff() throws {
        #expect(try encodings(Ask(headers: [.acceptEncoding: "gzip"])) == [])
        #expect(try encodings(Ask(), { $0.headers[.acceptEncoding] = "gzip" }) == [])
        var overrides = RequestOverrides()
        overrides.headers[.acceptEncoding] = "br"
        #expect(try encodings(Ask(), overrides: overrides) == [])
        let custom = CustomRequest(url: "http://h/", headers: [.acceptEncoding: "gzip"])
        #expect(try encodings(Ask(customRequest: custom)) == [])
        let named = Ask(headers: [.acceptEncoding: "gzip"], connection: ConnectionOptions(encodings: .all))
        #expect(try encodings(named) == .all)
        #expect(try encodings(Ask(headers: [.acceptEncoding: "gzip"]), { $0.connection.encodings = .all }) == .all)
    }

    /// A part of an encoded body cannot be decoded.
    @Test func aRangeIsOneOfTheContentItself() throws {
        let range = Ask(headers: [.range: "bytes=0-9"])
        let asked = try built(range)
        #expect(asked.headers.fields[.acceptEncoding] == "identity")
        #expect(asked.settings.connection?.encodings == [])
        let custom = CustomRequest(url: "http://h/", headers: [.range: "bytes=0-9"])
        #expect(try built(Ask(customRequest: custom)).headers.fields[.acceptEncoding] == "identity")
        let named = try built(range, { $0.connection.encodings = .gzip })
        #expect(named.headers.fields[.acceptEncoding] == nil)
        #expect(named.settings.connection?.encodings == .gzip)
    }

    /// The end of a response that is decoded waits for the upload.
    @Test func anUploadFromASourceAsksForNone() throws {
        let body = RequestBody.stream { AsyncStream<[UInt8]> { $0.finish() } }
        let custom = CustomRequest(method: .post, url: "http://h/", body: body)
        #expect(try encodings(Ask(customRequest: custom)) == [])
        #expect(try encodings(Ask(customRequest: custom), { $0.connection.encodings = .gzip }) == .gzip)
    }

    @Test func downloadsAreLeftAsTheyCome() throws {
        var download = Download("http://h/a", to: .file("/tmp/a"))
        #expect(try encodings(download) == [])
        #expect(try encodings(download, { $0.connection.encodings = .gzip }) == .gzip)
        download.acceptsEncodings = true
        #expect(try encodings(download) == .all)
    }
}
