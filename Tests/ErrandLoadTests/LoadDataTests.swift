import Errand
import ErrandLoad
import Testing

@Suite struct LoadDataTests {
    private func csv(_ text: String) throws -> LoadData { try .csv(Array(text.utf8), named: "feed") }

    private func rows(_ data: LoadData) -> [[String: String]] {
        (0..<data.count).map { index in
            var row: [String: String] = [:]
            for (place, column) in data.columns.enumerated() { row[column] = data.table[index][place] }
            return row
        }
    }

    @Test func csvAsRFC4180() throws {
        let data = try csv("name,note\r\nada,\"a \"\"b\"\", c\r\nd\"\n")
        #expect(data.columns == ["name", "note"])
        #expect(rows(data) == [["name": "ada", "note": "a \"b\", c\r\nd"]])
        // LF, a byte order mark, empty lines, no end of line at the end, empty fields.
        let lax = try csv("\u{FEFF}a,b\n\n1,\n,2")
        #expect(rows(lax) == [["a": "1", "b": ""], ["a": "", "b": "2"]])
    }

    @Test(arguments: [
        ("a,b\n1\n", 2), ("a\n\"1", 2), ("a\n\"1\"x\n", 2), ("a\nb\"c\n", 2), ("a\n1\n\"x\ny\n\n", 3),
    ])
    func malformedCSV(text: String, line: Int) throws {
        do {
            _ = try csv(text)
            Issue.record("the text was accepted")
        } catch {
            guard case .malformed(let name, let found, _) = error as any Error as? LoadDataError else { throw error }
            #expect(name == "feed" && found == line)
        }
    }

    @Test func bytesThatAreNotUTF8() {
        #expect(throws: LoadDataError.malformed(name: "feed", line: 2, problem: "not UTF-8")) {
            try LoadData.csv([0x61, 0x0A, 0xFF, 0x0A], named: "feed")
        }
    }

    @Test func emptyFeeds() {
        #expect(throws: LoadDataError.empty(name: "feed")) { try csv("") }
        #expect(throws: LoadDataError.empty(name: "feed")) { try csv("only,a,header\n") }
    }

    @Test func numbersKeepTheirDigits() throws {
        let text = "{\"id\": 18446744073709551615, \"n\": 10.00, \"price\": 19.90, \"list\": [1, 2.0], \"no\": null}\n"
        let data = try LoadData.jsonLines(Array(text.utf8), named: "feed")
        #expect(data.columns == ["id", "list", "n", "price"])
        #expect(data.table[0] == ["18446744073709551615", "[1, 2.0]", "10.00", "19.90"])
    }

    @Test func jsonLines() throws {
        let text = "{\"id\": 1, \"name\": \"ada\"}\n\n{\"id\": 2, \"tags\": [1, 2], \"name\": null}\r\n"
        let data = try LoadData.jsonLines(Array(text.utf8), named: "feed")
        #expect(data.columns == ["id", "name", "tags"] && data.count == 2)
        #expect(data.table[0] == ["1", "ada", nil])
        #expect(data.table[1][0] == "2" && data.table[1][1] == nil && data.table[1][2] != nil)
        do {
            _ = try LoadData.jsonLines(Array("{}\n[1]\n".utf8), named: "feed")
            Issue.record("an array was accepted")
        } catch {
            guard case .malformed(_, let line, _) = error as any Error as? LoadDataError else { throw error }
            #expect(line == 2)
        }
    }

    @Test func filesAreReadAndLimited() throws {
        do {
            _ = try LoadData.csv(file: "/nonexistent/feed.csv", named: "feed")
            Issue.record("there is no such file")
        } catch {
            guard case .unreadable(let name, let reason) = error as any Error as? LoadDataError else { throw error }
            #expect(name == "feed" && reason == .fileUnreadable)
        }
        do {
            _ = try LoadData.csv(file: "/proc/self/maps", named: "feed", byteLimit: 10)
            Issue.record("the file is larger than its limit")
        } catch {
            guard case .unreadable(_, let reason) = error as any Error as? LoadDataError else { throw error }
            #expect(reason == .fileUnreadable)
        }
    }

    private func data(_ count: Int, _ order: LoadData.Order, _ atEnd: LoadData.AtEnd) throws -> LoadData {
        try LoadData(named: "feed", rows: (0..<count).map { ["n": "\($0)"] }, order: order, atEnd: atEnd)
    }

    @Test func sequentialRowsByShare() throws {
        let data = try data(10, .sequential, .fail)
        var seen: [Int] = []
        for number in 1...3 {
            let share = try #require(LoadShare(number: number, of: 3))
            var turn: UInt64 = 0
            while let row = data.index(turn: turn, user: 1, iteration: turn, seed: 1, share: share) {
                #expect(row % 3 == share.index)
                seen.append(row)
                turn += 1
            }
        }
        #expect(seen.sorted() == Array(0..<10))
    }

    @Test func wrappingStartsAgain() throws {
        let data = try data(3, .sequential, .wrap)
        let rows = (0..<7).map { data.index(turn: $0, user: 1, iteration: $0, seed: 1, share: .whole) }
        #expect(rows == [0, 1, 2, 0, 1, 2, 0])
    }

    @Test func eachUserHasItsRow() throws {
        let data = try data(3, .uniquePerUser, .fail)
        let rows = (1...4).map { data.index(turn: 0, user: $0, iteration: 9, seed: 1, share: .whole) }
        #expect(rows == [0, 1, 2, nil])
    }

    @Test func randomRowsAreThoseOfTheShare() throws {
        let data = try data(100, .random, .fail)
        let share = try #require(LoadShare(number: 2, of: 4))
        let rows = (0..<500).compactMap { data.index(turn: 0, user: 3, iteration: $0, seed: 5, share: share) }
        #expect(rows.count == 500 && rows.allSatisfy { $0 % 4 == 1 })
        #expect(Set(rows).count > 20)
        #expect(rows == (0..<500).compactMap { data.index(turn: 0, user: 3, iteration: $0, seed: 5, share: share) })
    }
}
