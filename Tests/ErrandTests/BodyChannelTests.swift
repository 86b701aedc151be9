import Errand
import ErrandTesting
import Testing

@testable import ErrandClient

@Suite(.timeLimit(.minutes(20))) struct BodyChannelTests {
    private func chunk(_ bytes: [UInt8]) -> Response { Response(statusCode: 0, body: bytes) }

    /// Sizes around those at which chunks are kept whole, read at random in between.
    @Test func orderIsKept() async {
        var generator = SeededGenerator(seed: 7)
        for _ in 0..<20 {
            let channel = BodyChannel()
            var (sent, read): ([UInt8], [UInt8]) = ([], [])
            for number in 0..<300 {
                let size = [1, 3, 100, 4095, 4096, 4097, 20_000].randomElement(using: &generator) ?? 1
                let bytes = [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: size)
                channel.push(chunk(bytes))
                sent += bytes
                while read.count < sent.count, Bool.random(using: &generator) {
                    guard case .piece(let piece) = await channel.next() else { break }
                    #expect(piece.count == piece.withBytes { $0.count } && piece.count > 0)
                    read += piece.bytes
                }
            }
            channel.finish(.partialBody)
            while case .piece(let piece) = await channel.next() { read += piece.bytes }
            #expect(read == sent)
            guard case .failure(.partialBody) = await channel.next() else {
                #expect(Bool(false), "the failure was lost")
                return
            }
        }
    }

    @Test func emptyChunksAreNone() async {
        let channel = BodyChannel()
        let reader = Task { await channel.next() }
        channel.push(chunk([]))
        channel.push(chunk([1]))
        guard case .piece(let piece) = await reader.value else { return #expect(Bool(false), "no chunk") }
        #expect(piece.bytes == [1])
    }
}
