import CErrand
import Errand
import ErrandTesting
import Testing

@testable import ErrandEngine
@testable import ErrandNIO

/// What `CommandOptions.byteBuffers` has the engine ask of the core.
@Suite struct BodyMemoryTests {
    private struct Asked: Equatable {
        var hasMemory: Bool
        var body: Int64
        var decoded: Int64
    }

    /// What is asked for a request with these options and with `limit` as both limits of the body.
    private func asked(
        _ options: CommandOptions, limit: Int? = nil, isStreamed: Bool = false
    ) async throws -> Asked {
        let client = Client(transport: StubTransport())
        var command = RawCommand(url: "http://h/")
        command.options = options
        command.limits = Limits(bodyBytes: limit, decodedBytes: limit)
        var description = try client.describe(command)
        if isStreamed { description.delivery = .streamed }
        await client.shutdown()
        return description.withCRequest { request in
            Asked(
                hasMemory: request.response_memory != nil, body: request.limit_body_bytes,
                decoded: request.limit_decoded_bytes)
        }
    }

    /// 0, the default of the engine, stays 0.
    @Test(arguments: [false, true], [nil, 1000, 1 << 50] as [Int?])
    func limits(isStreamed: Bool, limit: Int?) async throws {
        let result = try await asked(.byteBuffers, limit: limit, isStreamed: isStreamed)
        let given = Int64(limit ?? 0)
        let expected = isStreamed ? given : min(given, Int64(ByteBufferMemory.largest))
        #expect(result == Asked(hasMemory: true, body: expected, decoded: expected))
    }

    @Test func thoseWithoutAUseForTheMemory() async throws {
        let limit = 1 << 50
        let plain = Asked(hasMemory: false, body: Int64(limit), decoded: Int64(limit))
        #expect(try await asked([], limit: limit) == plain)
        for option in [CommandOptions.discardsBody, .webSocket] {
            #expect(try await asked([.byteBuffers, option], limit: limit) == plain)
        }
    }
}
