import Errand
import Foundation
import HTTPTypes
import Testing

@testable import ErrandModel
@testable import ErrandTesting

/// Cassettes that a person, a merge or a full disk has damaged.
@Suite(.timeLimit(.minutes(20))) struct MalformedCassetteTests {
    private let folder: TestFolder

    init() throws {
        folder = try TestFolder()
    }

    private var path: String { folder.path + "/c.har" }

    /// A cassette with each kind of exchange.
    private var good: HAR {
        func response(_ text: String) -> HAR.Received {
            HAR.Received(
                status: 200, statusText: "OK",
                headers: [.contentType: "text/plain", .date: "Sun, 06 Nov 1994 08:49:37 GMT"],
                body: HAR.Body(bytes: Array(text.utf8), mimeType: "text/plain"))
        }
        let started = Duration.seconds(784_111_777)
        let timings = HAR.Timings(blocked: .milliseconds(1), wait: .milliseconds(4), receive: .milliseconds(5))
        var binary = response("text")
        binary.body = HAR.Body(bytes: [0xFF, 0, 0x80])
        var trailed = response("stream")
        trailed.trailers = [.eTag: "x"]
        let posted = HAR.Body(bytes: Array(#"{"name": "ada"}"#.utf8), mimeType: "application/json")
        return HAR(entries: [
            HAR.Entry(
                started: started, request: HAR.Sent(method: "GET", url: "http://test/text"), response: binary,
                timings: timings),
            HAR.Entry(
                started: started, request: HAR.Sent(method: "POST", url: "http://test/text", body: posted),
                failure: HAR.Failure(kind: "receiveFailed", message: "lost", curlCode: 56)),
            HAR.Entry(
                started: started, request: HAR.Sent(method: "GET", url: "http://test/stream"), response: trailed,
                timings: timings,
                chunks: [.init(time: .milliseconds(1), size: 4), .init(time: .milliseconds(2), size: 2)],
                others: ["_note": ["a", 1]]),
        ])
    }

    private struct Post: Command {
        var method: HTTPRequest.Method { .post }
        var path: String { "text" }
        var body: RequestBody { .json(["name": "ada"]) }
        typealias Response = Errand.Response
    }

    /// Opens the file. A damaged one is a typed error.
    private func open(_ bytes: [UInt8]) throws -> Cassette? {
        #expect(FileManager.default.createFile(atPath: path, contents: Data(bytes)))
        do throws(ErrandError) {
            return try Cassette(path, mode: .none)
        } catch {
            #expect(error == .fileUnreadable)
            let causes = ["entry ", " is no HAR", " is not JSON"]
            #expect(causes.contains { error.message.contains($0) }, "\(error.message)")
            return nil
        }
    }

    @Test(arguments: [
        ("1", "entry 2 is no object"), ("{}", "entry 2 has no request with a method and a URL"),
        (#"{"request": {"method": "GET", "url": "http://h/"}}"#, "entry 2 has no response"),
        (#"{"request": {"method": "GET", "url": "http://h/"}, "response": null}"#, "entry 2 has no response"),
        (#"{"request": [], "response": {}}"#, "entry 2 has a 'request' that is no object"),
        (#"{"request": {"method": 1, "url": "http://h/"}, "response": {}}"#, "'request.method' that is no text"),
        (
            #"{"request": {"method": "GET", "url": "h", "headers": "a"}}"#,
            "'request.headers' that is no list of objects"
        ),
        (
            #"{"request": {"method": "GET", "url": "h", "headers": [1]}}"#,
            "'request.headers' that is no list of objects"
        ),
        (
            #"{"request": {"method": "GET", "url": "h"}, "response": {"status": []}}"#,
            "'response.status' that is no number"
        ),
        (
            #"{"request": {"method": "GET", "url": "h"}, "response": {"content": {"text": 5}}}"#,
            "'response.content.text' that is no text"
        ),
        (
            #"{"request": {"method": "GET", "url": "h"}, "response": {"content": {"text": "QUJ", "encoding": "base64"}}}"#,
            "'response.content.text' that is not base64"
        ),
        (
            #"{"request": {"method": "GET", "url": "h", "postData": {"text": "QUJ", "_encoding": "base64"}}, "response": {}}"#,
            "'request.postData.text' that is not base64"
        ),
        (#"{"request": {"method": "GET", "url": "h"}, "response": {}, "_errand": 1}"#, "'_errand' that is no object"),
        (
            MalformedCassetteTests.with(#""_errand": {"error": {"message": "lost"}}"#),
            "'_errand.error' without a 'kind'"
        ),
        (
            MalformedCassetteTests.with(#""_errand": {"truncatedResponse": "all"}"#),
            "'_errand.truncatedResponse' that is no whole number"
        ),
        (MalformedCassetteTests.with(#""_errand": {"chunks": [[1, 2], [3]]}"#), "'_errand.chunks[1]' that is no pair"),
        (
            MalformedCassetteTests.with(#""_errand": {"trailers": [{"value": "x"}]}"#),
            "'_errand.trailers[0]' without a 'name'"
        ),
        (MalformedCassetteTests.with(#""timings": {"wait": "soon"}"#), "'timings.wait' that is no number"),
        (MalformedCassetteTests.with(#""startedDateTime": "yesterday""#), "'startedDateTime' that is no date"),
        (
            #"{"request": {"method": "GET", "url": "h"}, "response": {"status": 20}}"#,
            "'response.status' that is no status"
        ),
        (
            #"{"request": {"method": "GET", "url": "h", "headers": [{"value": "x"}]}, "response": {}}"#,
            "'request.headers[0]' without a 'name'"
        ),
        (
            #"{"request": {"method": "GET", "url": "h"}, "response": {"content": {"text": "a", "encoding": "rot13"}}}"#,
            "'response.content' in an encoding that is not known"
        ),
    ]) func theErrorNamesTheEntry(entry: String, problem: String) throws {
        let first = #"{"request": {"method": "GET", "url": "http://h/"}, "response": {"status": 200}}"#
        let text = #"{"log": {"entries": [\#(first), \#(entry)]}}"#
        #expect(FileManager.default.createFile(atPath: path, contents: Data(text.utf8)))
        let error = #expect(throws: ErrandError.self) { try Cassette(path, mode: .none) }
        #expect(error == .fileUnreadable)
        #expect(error?.message.contains("entry 2 ") == true && error?.message.contains(problem) == true)
    }

    /// An entry with one more member.
    private static func with(_ member: String) -> String {
        #"{"request": {"method": "GET", "url": "h"}, "response": {}, \#(member)}"#
    }

    /// Text in place of a version would get into the head.
    @Test func aVersionAddsNoFields() async throws {
        var har = good
        har.entries[0].response?.httpVersion = "HTTP/1.1 200 OK\r\nX-Added: 1"
        let cassette = try #require(try open(Array(har.text().utf8)))
        let transport = CassetteTransport(cassette, over: StubTransport())
        let client = Client(configuration: .init(baseURL: "http://test/"), transport: transport)
        let response = try await client.run(GetRaw(path: "text"))
        #expect(response.statusCode == 200 && !response.headers.contains { $0.name.rawName == "X-Added" })
        await client.shutdown()
        await transport.stop()
    }

    /// What exporters leave out, write as `null` or as text, or add.
    @Test func whatIsNoDamageIsRead() throws {
        let text = """
            {"log": {"unknown": [1], "entries": [
              {"request": {"method": "GET", "url": "http://h/", "headers": null, "postData": null, "more": {}},
               "response": {"status": "0", "content": null}, "timings": null, "_errand": null, "new": 1},
              {"request": {"method": "GET", "url": "http://h/", "headers": []}, "response": {"status": ""}}]}}
            """
        #expect(try open(Array(text.utf8))?.entries.map(\.response) == [nil, nil])
    }

    @Test func atAnyPlaceATextThatEndsIsAnError() throws {
        let text = Array(good.text(isPretty: false).utf8)
        for end in stride(from: 0, to: text.count - 1, by: 7) {
            #expect(try open(Array(text[..<end])) == nil)
        }
    }

    /// Each mutant is a typed error, or a cassette whose requests each end.
    @Test(arguments: [UInt64](0..<12)) func mutantsAreErrorsOrAnswer(seed: UInt64) async throws {
        var dice = SeededGenerator(seed: seed)
        let text = Array(good.text(isPretty: false).utf8)
        let value = try Response(statusCode: 200, body: text).json()
        for number in 0..<40 {
            let mutant =
                number.isMultiple(of: 2)
                ? mutated(text, &dice) : Array(mutated(mutated(value, &dice), &dice).description.utf8)
            guard let cassette = try open(mutant) else { continue }
            await answer(cassette)
        }
    }

    private func answer(_ cassette: Cassette) async {
        let transport = CassetteTransport(cassette, over: StubTransport())
        var configuration = Client.Configuration(baseURL: "http://test/")
        // A mutant may be a request without an end.
        configuration.timeouts.total = .milliseconds(50)
        let client = Client(configuration: configuration, transport: transport)
        _ = await client.result(of: GetRaw(path: "text"))
        _ = await client.result(of: Post())
        do {
            for try await _ in try await client.stream(GetStream()).body {}
        } catch {
            // As any mutant may.
        }
        await client.shutdown()
        await transport.stop()
    }

    private func picked<Element>(_ elements: [Element], _ dice: inout SeededGenerator) -> Element {
        elements[Int(dice.next() % UInt64(elements.count))]
    }

    /// Some bytes are missing, doubled or changed.
    private func mutated(_ text: [UInt8], _ dice: inout SeededGenerator) -> [UInt8] {
        var text = text
        for _ in 0...Int(dice.next() % 3) where !text.isEmpty {
            let place = Int(dice.next() % UInt64(text.count))
            let end = min(text.count, place + 1 + Int(dice.next() % 8))
            switch dice.next() % 4 {
            case 0: text.removeSubrange(place..<end)
            case 1: text.insert(contentsOf: text[place..<end], at: place)
            case 2: text[place] = picked(Array(#"{}[],:"0-e\x"#.utf8), &dice)
            default: text[place] = UInt8(truncatingIfNeeded: dice.next())
            }
        }
        return text
    }

    private static let junk: [JSONValue] = [
        .null, .bool(true), .integer(.min), .integer(.max), .integer(-1), .number(1e300), .number(-0.5), .string(""),
        .string("\r\n\u{0}"), .string("base64"), .string("cancelled"), .string("9999-12-31T23:59:59Z"),
        .string(String(repeating: "9", count: 400)), .array([]), .array([.null]), .object([:]),
    ]

    /// A member or an element, at any depth, is missing, doubled or of another type.
    private func mutated(_ value: JSONValue, _ dice: inout SeededGenerator) -> JSONValue {
        switch value {
        case .object(var members) where !members.isEmpty && dice.next() % 8 > 0:
            let name = picked(members.keys.sorted(), &dice)
            guard let member = members[name] else { return value }
            switch dice.next() % 10 {
            case 0: members[name] = nil
            case 1: members["unknown"] = picked(Self.junk, &dice)
            default: members[name] = mutated(member, &dice)
            }
            return .object(members)
        case .array(var elements) where !elements.isEmpty && dice.next() % 8 > 0:
            let index = Int(dice.next() % UInt64(elements.count))
            switch dice.next() % 10 {
            case 0: elements.remove(at: index)
            case 1: elements.append(elements[index])
            default: elements[index] = mutated(elements[index], &dice)
            }
            return .array(elements)
        default: return picked(Self.junk, &dice)
        }
    }
}
