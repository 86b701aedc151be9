import Errand
import ErrandTesting
import Testing

@testable import ErrandEvents

@Suite struct ServerSentEventTests {
    private typealias Event = ServerSentEvent

    private func events(_ text: String) async throws -> [ServerSentEvent] {
        try await ChunkedBytes([Array(text.utf8)]).serverSentEvents.collected()
    }

    /// The examples of WHATWG HTML 9.2.6, each line end by each of the three.
    @Test(
        arguments: [
            ("data: YHOO\ndata: +2\ndata: 10\n\n", [Event(data: "YHOO\n+2\n10")]),
            (
                ": test stream\n\ndata: first event\nid: 1\n\ndata:second event\nid\n\ndata:  third event\n\n",
                [Event(data: "first event", id: "1"), Event(data: "second event"), Event(data: " third event")]
            ),
            ("data\n\ndata\ndata\n\ndata:", [Event(data: ""), Event(data: "\n")]),
            ("data:test\n\ndata: test\n\n", [Event(data: "test"), Event(data: "test")]),
            (
                "event: add\ndata: 73857293\n\nevent: remove\ndata: 2153\n\n",
                [Event(event: "add", data: "73857293"), Event(event: "remove", data: "2153")]
            ),
            ("data: This is the first message.\n\n", [Event(data: "This is the first message.")]),
        ] as [(String, [ServerSentEvent])], ["\n", "\r", "\r\n"])
    func examplesOfTheStandard(example: (text: String, events: [ServerSentEvent]), lineEnd: String) async throws {
        let text = example.text.replacing("\n", with: lineEnd)
        #expect(try await events(text) == example.events)
        #expect(try await events("\u{FEFF}" + text) == example.events)
    }

    @Test(
        arguments: [
            // Dispatching
            ("", []), ("\n\n\n", []), ("event: x\n\n", []), ("event: x\n\ndata: a\n\n", [Event(data: "a")]),
            ("data: a", []), ("data: a\n", []), ("data: a\n\ndata: b\n", [Event(data: "a")]),
            ("data: a\nevent:\n\n", [Event(data: "a")]),
            ("event: a\nevent: b\ndata\n\n", [Event(event: "b", data: "")]),
            // Fields
            ("data:  a \n\n", [Event(data: " a ")]), ("data:\ta\n\n", [Event(data: "\ta")]), ("Data: a\n\n", []),
            (" data: a\n\n", []), ("data : a\n\n", []), ("dat: a\n\n", []), ("data:a:b\n\n", [Event(data: "a:b")]),
            (":data: a\n\n", []), (":\ndata: a\n:x\ndata: b\n\n", [Event(data: "a\nb")]),
            ("data\u{0}: a\ndata: b\u{0}\n\n", [Event(data: "b\u{0}")]),
            ("\u{FEFF}\u{FEFF}data: a\n\ndata: b\n\n", [Event(data: "b")]),
            ("\n\u{FEFF}data: a\n\n", []), ("data: \u{FEFF}\n\n", [Event(data: "\u{FEFF}")]),
            // IDs
            ("id: 1\ndata: a\n\ndata: b\n\n", [Event(data: "a", id: "1"), Event(data: "b", id: "1")]),
            ("id: 1\n\ndata: b\n\n", [Event(data: "b", id: "1")]),
            ("id: 1\nid: 2\ndata\n\n", [Event(data: "", id: "2")]),
            ("id: 1\nid: 2\u{0}\ndata\n\n", [Event(data: "", id: "1")]),
            ("id: 1\ndata\n\nid\ndata\n\n", [Event(data: "", id: "1"), Event(data: "")]),
            ("id: é\ndata\n\n", [Event(data: "", id: "é")]),
            // Reconnection times
            ("retry: 10\ndata\n\ndata\n\n", [Event(data: "", retry: .milliseconds(10)), Event(data: "")]),
            ("retry: 0\ndata\n\n", [Event(data: "", retry: .zero)]), ("retry: -1\ndata\n\n", [Event(data: "")]),
            ("retry: 1.5\ndata\n\n", [Event(data: "")]), ("retry:\ndata\n\n", [Event(data: "")]),
            ("retry: 1s\ndata\n\n", [Event(data: "")]), ("retry:  1\ndata\n\n", [Event(data: "")]),
            ("retry: \u{0661}\ndata\n\n", [Event(data: "")]),
            ("retry: 007\ndata\n\n", [Event(data: "", retry: .milliseconds(7))]),
            ("retry: 99999999999999999999\ndata\n\n", [Event(data: "", retry: .milliseconds(Int64.max))]),
        ] as [(String, [ServerSentEvent])])
    func rules(text: String, expected: [ServerSentEvent]) async throws {
        #expect(try await events(text) == expected)
        #expect(try await ChunkedBytes(text.utf8.map { [$0] }).serverSentEvents.collected() == expected)
    }

    @Test func bytesThatAreNoTextAreRepaired() async throws {
        let bytes = Array("data: ".utf8) + [0xFF, 0x0A, 0x0A]
        #expect(try await ChunkedBytes([bytes]).serverSentEvents.collected() == [Event(data: "\u{FFFD}")])
    }

    @Test func blocksWithoutDataChangeWhatAReconnectionSends() throws {
        var parser = ServerSentEventParser(lastEventID: "0")
        #expect(parser.lastEventID == "0" && parser.reconnectionTime == nil)
        parser.push(Array("id: 5\nretry: 20\n".utf8))
        #expect(try parser.next() == nil)
        // A blank line commits the ID; the time needs none.
        #expect(parser.lastEventID == "0" && parser.reconnectionTime == .milliseconds(20))
        parser.push(Array("\n".utf8))
        #expect(try parser.next() == nil)
        #expect(parser.lastEventID == "5")
        parser.push(Array("data: a\n\n".utf8))
        #expect(try parser.next() == Event(data: "a", id: "5"))
    }

    @Test(arguments: 1...30 as ClosedRange<UInt64>)
    func bordersOfChunksDoNotCount(seed: UInt64) async throws {
        var generator = SeededGenerator(seed: seed)
        let pieces = [
            "\n", "\r", "\r\n", "\n\n", "data", "data: ", "data:x", "id: 1", "id", "event: e", "retry: 5", ":c", "é",
            "😀",
            "\u{FEFF}", "\u{0}", ":", " ",
        ]
        for _ in 0..<20 {
            let text = (0..<60).map { _ in pieces[Int.random(in: pieces.indices, using: &generator)] }.joined()
            let whole = try await events(text)
            #expect(whole == naive(text))
            for _ in 0..<5 {
                #expect(
                    try await ChunkedBytes(text.utf8, cutBy: &generator).serverSentEvents.collected() == whole,
                    "\(text)")
            }
        }
    }

    /// The algorithm read from the standard's text once more, over strings and a whole stream.
    private func naive(_ text: String) -> [ServerSentEvent] {
        // By scalars: as characters, CR and LF stick together.
        var scalars = Array(text.unicodeScalars)
        for index in scalars.indices.dropFirst().reversed() where scalars[index] == "\n" && scalars[index - 1] == "\r" {
            scalars.remove(at: index)
        }
        if scalars.first == "\u{FEFF}" { scalars.removeFirst() }
        var lines = scalars.split(omittingEmptySubsequences: false) { $0 == "\n" || $0 == "\r" }
            .map { String(String.UnicodeScalarView($0)) }
        lines.removeLast()
        var events: [ServerSentEvent] = []
        var (data, type, idBuffer, lastID, retry) = ("", "", "", "", Duration?.none)
        for line in lines {
            if line.isEmpty {
                lastID = idBuffer
                if !data.isEmpty {
                    data.unicodeScalars.removeLast()
                    events.append(
                        ServerSentEvent(event: type.isEmpty ? "message" : type, data: data, id: lastID, retry: retry))
                }
                (data, type, retry) = ("", "", nil)
                continue
            }
            let parts = line.unicodeScalars.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            var value = parts.count > 1 ? String(parts[1]) : ""
            if value.unicodeScalars.first == " " { value.unicodeScalars.removeFirst() }
            switch String(parts[0]) {
            case "data": data += value + "\n"
            case "event": type = value
            case "id": if !value.unicodeScalars.contains("\u{0}") { idBuffer = value }
            case "retry": if value.wholeMatch(of: /[0-9]+/) != nil { retry = .milliseconds(Int(value) ?? 0) }
            default: break
            }
        }
        return events
    }

    @Test func whatIsTooLargeEndsTheStream() async throws {
        let head = "data: a\n\n"
        for tail in [
            "data: 123456789012345", ":34567890123456789", "data: 1234\ndata: 5678\ndata: 901234\n",
            "id: 34567890123456",
        ] {
            let text = head + tail
            for chunks in [[Array(text.utf8)], text.utf8.map { [$0] }] {
                let sequence = ServerSentEventSequence(ChunkedBytes(chunks), maximumEventBytes: 16)
                var iterator = sequence.makeAsyncIterator()
                #expect(try await iterator.next() == Event(data: "a"))
                await #expect(throws: ErrandError.limitBodyBytes) { try await iterator.next() }
                #expect(try await iterator.next() == nil)
            }
        }
        var parser = ServerSentEventParser(maximumEventBytes: 4)
        parser.push(Array("data: a\n\n".utf8))
        for _ in 0..<2 { #expect(throws: ErrandError.limitBodyBytes) { try parser.next() } }
        parser.push(Array("\n\n".utf8))
        #expect(throws: ErrandError.limitBodyBytes) { try parser.next() }
    }

    @Test func theBasesErrorGoesThrough() async throws {
        let base = ChunkedBytes([Array("data: a\n\ndata: b\n".utf8)], failure: CancellationError())
        var iterator = base.serverSentEvents.makeAsyncIterator()
        #expect(try await iterator.next() == Event(data: "a"))
        await #expect(throws: CancellationError.self) { try await iterator.next() }
        #expect(try await iterator.next() == nil)
        #expect(iterator.lastEventID == "")
    }
}
