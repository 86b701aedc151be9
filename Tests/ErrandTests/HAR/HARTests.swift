import Errand
import HTTPTypes
import Testing

@testable import ErrandLogging
@testable import ErrandModel

/// What is written and what is read.
@Suite struct HARTests {
    private static let entry = HAR.Entry(
        started: .milliseconds(1_785_587_696_789),
        request: HAR.Sent(
            method: "POST", url: "http://test/users?a=1&b=x%20y", headers: [.contentType: "application/json"],
            body: HAR.Body(bytes: Array(#"{"name":"Ada"}"#.utf8), mimeType: "application/json"), wireSize: 14),
        response: HAR.Received(
            status: 201, statusText: "Created", headers: [.contentType: "image/png", .location: "/users/1"],
            trailers: [.date: "now"], body: HAR.Body(bytes: [0xFF, 0xD8, 0], mimeType: "image/png"), wireSize: 3),
        timings: HAR.Timings(
            blocked: .microseconds(1500), dns: .milliseconds(2), connect: .milliseconds(30), ssl: .milliseconds(20),
            wait: .microseconds(4001), receive: .milliseconds(5)),
        serverAddress: "127.0.0.1", connection: "5000", chunks: [HAR.Chunk(time: .milliseconds(40), size: 3)],
        others: ["_priority": "high"])

    @Test func whatIsWrittenIsReadAgain() throws {
        let har = HAR(entries: [Self.entry], comment: "one")
        for isPretty in [true, false] {
            let read = try HAR(parsing: Array(har.text(isPretty: isPretty).utf8))
            #expect(read == har)
        }
    }

    @Test func whatIsWrittenIsAHAR() throws {
        let text = HAR(entries: [Self.entry]).text()
        let value = try Response(statusCode: 200, body: Array(text.utf8)).json()
        let log = try #require(value["log"])
        #expect(log["version"] == "1.2" && log["creator"]?["name"] == "errand")
        let entry = try #require(log["entries"]?[0])
        #expect(entry["startedDateTime"] == "2026-08-01T12:34:56.789Z")
        #expect(entry["time"] == 42.501)
        #expect(entry["timings"]?["blocked"] == 1.5 && entry["timings"]?["ssl"] == 20)
        #expect(entry["cache"] == [:])
        let request = try #require(entry["request"])
        for name in ["method", "url", "httpVersion", "cookies", "headers", "queryString", "headersSize", "bodySize"] {
            #expect(request[name] != nil, "\(name)")
        }
        #expect(request["queryString"] == [["name": "a", "value": "1"], ["name": "b", "value": "x y"]])
        #expect(request["postData"] == ["mimeType": "application/json", "text": #"{"name":"Ada"}"#])
        let response = try #require(entry["response"])
        #expect(response["content"] == ["size": 3, "mimeType": "image/png", "text": "/9gA", "encoding": "base64"])
        #expect(response["redirectURL"] == "/users/1" && response["statusText"] == "Created")
        #expect(entry["_priority"] == "high")
        // Members of the format stand in its order.
        let places = ["startedDateTime", "\"time\"", "\"request\"", "\"response\"", "\"cache\"", "\"timings\""]
            .compactMap { text.firstRange(of: $0)?.lowerBound }
        #expect(places.count == 6 && places == places.sorted())
    }

    @Test func failuresAndTruncatedBodiesAreWritten() throws {
        var entry = Self.entry
        entry.response = nil
        entry.failure = HAR.Failure(kind: "timeoutIdle", message: "no data", curlCode: 28)
        entry.request.body = HAR.Body(bytes: [0x61], mimeType: "text/plain", size: 1000, isTruncated: true)
        entry.chunks = []
        let read = try #require(try HAR(parsing: Array(HAR(entries: [entry]).text().utf8)).entries.first)
        #expect(read == entry)
        let error = try #require(read.failure?.error(response: nil, metrics: nil))
        #expect(error == .timeoutIdle && error.message == "no data" && error.curlCode == 28)
        #expect(HAR.Failure(kind: "unheard", message: "").error(response: nil, metrics: nil) == .connectionLost)
    }

    @Test func entriesAreWrittenInTheOrderOfTheirStarts() throws {
        var later = Self.entry
        later.started += .seconds(1)
        let har = try HAR(parsing: Array(HAR(entries: [later, Self.entry]).text().utf8))
        #expect(har.entries == [Self.entry, later])
    }

    /// What Chrome, Firefox and mitmproxy write, and what a person has damaged.
    @Test func readingIsTolerant() throws {
        let text = """
            {"log": {"creator": {"name": "x", "version": 3}, "pages": [{}], "unknown": 1, "entries": [
              {"startedDateTime": "2026-08-01T14:34:56.789123+02:00", "time": "12.5", "_id": "a", "comment": "",
               "request": {"method": "GET", "url": "http://h/", "headers": [
                 {"name": ":authority", "value": "h"}, {"name": "X-A", "value": 1}, {"name": "bad\\n", "value": ""}]},
               "response": {"status": "200", "headers": [], "content": {"size": "3", "text": "YWJj", "encoding": "base64"}}},
              {"request": {"method": "POST", "url": "http://h/", "postData": {
                 "mimeType": "application/x-www-form-urlencoded", "params": [{"name": "a b", "value": "1"}]}},
               "response": {"status": 0}, "timings": {"connect": 3, "ssl": 20, "wait": -1, "blocked": "-1", "send": "1"}},
              {"request": {"method": "GET", "url": "http://h/"},
               "response": {"status": 200, "content": {"size": 1234}}}
            ]}}
            """
        let har = try HAR(parsing: Array(text.utf8))
        #expect(har.creator == HAR.Creator(name: "x", version: "3"))
        try #require(har.entries.count == 3)
        let (first, second, third) = (har.entries[0], har.entries[1], har.entries[2])
        #expect(first.started == .seconds(1_785_587_696) + .microseconds(789_123))
        #expect(first.time == .microseconds(12_500) && first.others == ["_id": "a"])
        #expect(first.request.headers.count == 1 && first.request.httpVersion == "unknown")
        #expect(first.response?.body.bytes == Array("abc".utf8))
        #expect(second.request.body?.bytes == Array("a%20b=1".utf8) && second.response == nil)
        #expect(second.timings.connect == .milliseconds(23) && second.timings.blocked == nil)
        #expect(second.timings.total == .milliseconds(24))
        #expect(third.response?.body == HAR.Body(size: 1234, isTruncated: true))
    }

    @Test(arguments: [
        ("", "not JSON"), ("[]", "no 'log.entries'"), (#"{"log": {"entries": 1}}"#, "no 'log.entries'"),
        (#"{"log": {"entries": [{"request": {"method": "GET", "url": "http://h/"}}, {}]}}"#, "entry 2 has no request"),
    ]) func textThatIsNoHARIsRefused(text: String, problem: String) {
        let error = #expect(throws: ErrandError.self) { try HAR(parsing: Array(text.utf8)) }
        #expect(error == .invalidArgument && error?.message.contains(problem) == true)
    }

    @Test func cookiesStandBesideTheFields() throws {
        var entry = Self.entry
        entry.request.headers[.cookie] = "a=1; b=2=3"
        entry.response?.headers[.setCookie] = "s=x; Path=/p; HttpOnly; Max-Age=3"
        let value = try Response(statusCode: 200, body: Array(HAR(entries: [entry]).text().utf8)).json()
        let item = try #require(value["log"]?["entries"]?[0])
        #expect(item["request"]?["cookies"] == [["name": "a", "value": "1"], ["name": "b", "value": "2=3"]])
        #expect(
            item["response"]?["cookies"] == [["name": "s", "value": "x", "path": "/p", "httpOnly": true]])
    }

    @Test func aFileIsReadAndReplaced() throws {
        let folder = try TestFolder()
        let path = folder.path + "/a.har"
        #expect(throws: ErrandError.fileUnreadable) { try HAR(contentsOf: path) }
        try HAR(entries: [Self.entry]).write(to: path)
        #expect(try HAR(contentsOf: path).entries == [Self.entry])
        try HAR().write(to: path)
        #expect(try HAR(contentsOf: path).entries.isEmpty)
        #expect(try folder.names == ["a.har"])
        let missing = #expect(throws: ErrandError.self) { try HAR().write(to: folder.path + "/no/a.har") }
        #expect(missing?.shortDescription == "directoryMissing")
        #expect(throws: ErrandError.invalidOption) { try HAR(contentsOf: "") }
    }

    @Test(arguments: [
        ("1970-01-01T00:00:00Z", 0), ("1969-12-31T23:59:59.999Z", -1), ("2000-02-29T12:00:00.5+01:00", 951_822_000_500),
        ("2026-08-01T12:34:56,789Z", 1_785_587_696_789), ("2026-08-01 12:34Z", 1_785_587_640_000),
    ]) func datesAreRead(text: String, milliseconds: Int) {
        #expect(HARTime.time(text) == .milliseconds(milliseconds))
    }

    @Test func datesAreWrittenAsTheyAreRead() {
        for milliseconds in stride(from: -62_135_596_800_000, through: 253_402_300_799_000, by: 987_654_321_987) {
            let time = Duration.milliseconds(milliseconds)
            #expect(HARTime.time(HARTime.text(time)) == time)
        }
        for text in ["", "2026", "2026-13-01T00:00:00Z", "2026-08-01T12:34:56.789X", "now"] {
            #expect(HARTime.time(text) == nil, "\(text)")
        }
    }
}
