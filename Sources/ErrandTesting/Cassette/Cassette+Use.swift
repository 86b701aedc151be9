public import Errand

extension Cassette {
    /// Runs `body` with a client on a cassette, then shuts the client down and saves the recorded exchanges. If `body`
    /// throws, nothing is saved, because a partial recording would make the next run fail. If a request was not on the
    /// cassette, its mismatch is thrown, even if the program has caught the request's error.
    ///
    /// - Parameters:
    ///   - path: The file. A relative path begins at the folder of `source`.
    ///   - source: The source file of the test. Default: the file that calls.
    ///   - mode: Default: that of the environment, ``Mode/standard``.
    ///   - matching: Which parts of a request count. Default: method, URL and body.
    ///   - redaction: The secrets to hide. Default: ``/Errand/Redaction/standard``.
    ///   - allowsRepeats: Whether the last of several equal recorded requests answers all further ones. Default: no.
    ///   - bodyLimit: The most bytes of a body that are recorded and compared. Default: 16 MiB.
    ///   - fileLimit: The most bytes of the file. Default: 256 MiB.
    ///   - comparison: Compares parts that the rules do not compare, such as one member of a body. Default: nothing.
    ///   - beforeRecording: Changes each exchange before it is kept. Default: nothing.
    ///   - configuration: The client's configuration. Default: that of clients that are made without one.
    ///   - replaysTime: Whether a replayed exchange takes as long as the recorded one, on the configuration's clock.
    ///     Default: no.
    ///   - shiftsDates: Whether dates of responses are moved, to be as far from the present as when they were recorded.
    ///     Default: yes.
    ///   - requiresAll: Whether a recorded exchange that no request has used is an error, a ``CassetteRemains``. Default:
    ///     no.
    ///   - isolation: The actor that `body` runs on. Default: that of the caller.
    ///   - body: The test.
    /// - Throws: What `body` throws, the first of ``mismatches``, and the errors of
    ///   ``init(_:beside:mode:matching:redaction:allowsRepeats:bodyLimit:fileLimit:beforeRecording:comparison:)`` and
    ///   ``save(pruning:)``.
    public static func use<Value>(
        _ path: String, beside source: String = #filePath, mode: Mode = .standard,
        matching: RequestMatching = RequestMatching(), redaction: Redaction = .standard,
        allowsRepeats: Bool = false, bodyLimit: Int = 16 << 20, fileLimit: Int = 256 << 20,
        beforeRecording: (@Sendable (inout HAR.Entry) -> Void)? = nil, comparison: Comparison? = nil,
        configuration: Client.Configuration = Client.Configuration(), replaysTime: Bool = false,
        shiftsDates: Bool = true, requiresAll: Bool = false, isolation: isolated (any Actor)? = #isolation,
        _ body: (Client) async throws -> Value
    ) async throws -> Value {
        let cassette = try Cassette(
            path, beside: source, mode: mode, matching: matching, redaction: redaction,
            allowsRepeats: allowsRepeats, bodyLimit: bodyLimit, fileLimit: fileLimit,
            beforeRecording: beforeRecording, comparison: comparison)
        let transport = CassetteTransport(
            cassette, configuration: configuration, replaysTime: replaysTime, shiftsDates: shiftsDates)
        let client = Client(configuration: configuration, transport: transport)
        let value: Value
        do {
            value = try await body(client)
        } catch {
            await client.shutdown(.cancel)
            await transport.stop()
            cassette.endRecording()
            throw error
        }
        await client.shutdown()
        await transport.stop()
        try cassette.save()
        if let mismatch = cassette.mismatches.first { throw mismatch }
        let unused = cassette.unused
        if requiresAll, !unused.isEmpty { throw CassetteRemains(path: cassette.path, entries: unused) }
        return value
    }
}

/// Recorded exchanges that a test no longer sends.
public struct CassetteRemains: Error, Sendable, CustomStringConvertible {
    /// The path of the cassette.
    public let path: String
    /// The exchanges.
    public let entries: [HAR.Entry]

    /// A readable text of several lines.
    public var description: String {
        let lines = entries.map { "\n  \($0.request.method) \($0.request.url)" }
        return "\(entries.count) exchanges of the cassette '\(path)' were not used:" + lines.joined()
    }
}
