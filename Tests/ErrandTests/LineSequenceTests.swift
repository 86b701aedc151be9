import Errand
import ErrandTesting
import Testing

@testable import ErrandEvents
@testable import ErrandModel

@Suite struct LineSequenceTests {
    private struct Broken: Error {}

    @Test(
        arguments: [
            ("", []), ("a", ["a"]), ("a\n", ["a"]), ("a\nb", ["a", "b"]), ("a\r\nb\r\n", ["a", "b"]),
            ("a\rb\r", ["a", "b"]),
            ("\n", [""]), ("\r\n", [""]), ("\n\n", ["", ""]), ("\r\r", ["", ""]), ("\r\n\r\n", ["", ""]),
            ("\n\r", ["", ""]), ("\n\r\n", ["", ""]), ("\r\n\n", ["", ""]), ("\r\r\n", ["", ""]),
            ("a\r\n\rb", ["a", "", "b"]),
            ("\u{feff}a\n\u{feff}b", ["a", "\u{feff}b"]), ("\u{feff}", []), ("\u{feff}\n", [""]),
            ("\u{feff}\u{feff}", ["\u{feff}"]),
            ("é\n😀", ["é", "😀"]), ("a\u{0}b\n \n", ["a\u{0}b", " "]),
        ] as [(String, [String])])
    func lines(text: String, expected: [String]) async throws {
        let bytes = Array(text.utf8)
        #expect(try await ChunkedBytes([bytes]).lines.collected() == expected)
        #expect(try await ChunkedBytes(bytes.map { [$0] }).lines.collected() == expected)
        #expect(try await ChunkedBytes(bytes.flatMap { [[], [$0], []] }).lines.collected() == expected)
    }

    @Test(arguments: 1...20 as ClosedRange<UInt64>)
    func bordersOfChunksDoNotCount(seed: UInt64) async throws {
        var generator = SeededGenerator(seed: seed)
        let pieces = ["\n", "\r", "\r\n", "a", "bc", "é", "😀", ""]
        let text = (0..<300).map { _ in pieces[Int.random(in: pieces.indices, using: &generator)] }.joined()
        let whole = try await ChunkedBytes([Array(text.utf8)]).lines.collected()
        // Swift's own view of line ends, as an oracle: CRLF is one character there.
        var expected = text.split(omittingEmptySubsequences: false) { ["\n", "\r", "\r\n"].contains($0) }.map(
            String.init)
        if expected.last == "" { expected.removeLast() }
        #expect(whole == expected)
        for _ in 0..<10 {
            #expect(try await ChunkedBytes(text.utf8, cutBy: &generator).lines.collected() == whole)
        }
    }

    @Test func longLinesAreRefused() async throws {
        let exact = try await LineSequence(ChunkedBytes([Array("abc\nabc".utf8)]), maximumLength: 3).collected()
        #expect(exact == ["abc", "abc"])
        for chunks in [["a\nabcd\nb"], ["a\nab", "cd\nb"], ["a\nabcd"], ["a\na", "b", "c", "d"]] {
            let lines = LineSequence(ChunkedBytes(chunks.map { Array($0.utf8) }), maximumLength: 3)
            var iterator = lines.makeAsyncIterator()
            #expect(try await iterator.next() == "a")
            let error = await #expect(throws: ErrandError.self) { try await iterator.next() }
            #expect(error == .limitBodyBytes && error?.message == "line 2 is longer than 3 bytes")
            #expect(try await iterator.next() == nil)
        }
    }

    @Test func bytesThatAreNoTextAreRepairedOrRefused() async throws {
        let chunks: [[UInt8]] = [[0x41, 0xFF, 0x0A, 0xC3], [0xA9, 0x0A, 0xC3, 0x0A]]
        #expect(try await ChunkedBytes(chunks).lines.collected() == ["A\u{FFFD}", "é", "\u{FFFD}"])
        var iterator = LineSequence(ChunkedBytes(chunks), invalidText: .refused).makeAsyncIterator()
        let error = await #expect(throws: ErrandError.self) { try await iterator.next() }
        #expect(error == .responseDecodingFailed && error?.message == "line 1 is not UTF-8")
        #expect(try await iterator.next() == nil)
    }

    @Test func theBasesErrorGoesThrough() async throws {
        var iterator = ChunkedBytes([Array("a\nb".utf8)], failure: Broken()).lines.makeAsyncIterator()
        #expect(try await iterator.next() == "a")
        await #expect(throws: Broken.self) { try await iterator.next() }
        #expect(try await iterator.next() == nil)
    }

    @Test func jsonLines() async throws {
        let text = "{\"a\":1}\n\n  \t\r\n{\"a\":2}\r\n{\"a\":3}"
        for chunks in [[Array(text.utf8)], text.utf8.map { [$0] }] {
            let values = try await ChunkedBytes(chunks).jsonLines(of: [String: Int].self).collected()
            #expect(values.map { $0["a"] } == [1, 2, 3])
        }
        #expect(
            try await ChunkedBytes([Array("1\n\"x\"\nnull".utf8)]).jsonLines(of: JSONValue.self).collected() == [
                1, "x", .null,
            ])
    }

    @Test func aBrokenJSONLineIsNamedAndPassed() async throws {
        let brackets = String(repeating: "[", count: 513)
        for broken in ["{\"a\":", "[1]", "x", brackets, "\u{0}"] {
            let base = ChunkedBytes([Array("{\"a\":1}\n\n\(broken)\n{\"a\":2}\n".utf8)])
            var iterator = base.jsonLines(of: [String: Int].self).makeAsyncIterator()
            #expect(try await iterator.next() == ["a": 1])
            let error = await #expect(throws: ErrandError.self) { try await iterator.next() }
            #expect(error == .responseDecodingFailed && error?.message.hasPrefix("line 3 is not a JSON") == true)
            #expect((error?.underlyingError as? JSONLineError)?.lineNumber == 3)
            #expect(try await iterator.next() == ["a": 2])
            #expect(try await iterator.next() == nil)
        }
        let long = JSONLinesSequence(ChunkedBytes([Array("[1,2,3]".utf8)]), of: JSONValue.self, maximumLength: 6)
        await #expect(throws: ErrandError.limitBodyBytes) { try await long.collected() }
    }
}
