import Errand
import HTTPTypes
import Testing

@testable import ErrandModel

@Suite struct HeaderBlockTests {
    private let block = HeaderBlock(bytes: Array("Accept: a\r\nX-One: 1\r\nx-one: 2\r\nHost: h\r\n".utf8))

    private func text(_ block: HeaderBlock) -> String {
        String(decoding: block.bytes, as: UTF8.self)
    }

    private func name(_ text: String) throws -> HTTPField.Name {
        try #require(HTTPField.Name(text))
    }

    @Test func setAppends() throws {
        var block = block
        try block.set(.authorization, to: "Bearer t")
        #expect(text(block) == text(self.block) + "Authorization: Bearer t\r\n")
        var empty = HeaderBlock.empty
        try empty.set(.accept, to: "")
        #expect(text(empty) == "Accept: \r\n")
    }

    @Test func setReplacesAllOfTheName() throws {
        let set = try block.setting(name("X-ONE"), to: "3")
        #expect(text(set) == "Accept: a\r\nHost: h\r\nX-ONE: 3\r\n")
    }

    @Test func remove() throws {
        var block = block
        block.remove(try name("x-One"))
        #expect(text(block) == "Accept: a\r\nHost: h\r\n")
        block.remove(.cookie)
        #expect(text(block) == "Accept: a\r\nHost: h\r\n")
    }

    @Test(arguments: ["a\r\nEvil: 1", "a\nb", "a\rb", "a\0b", "\n"])
    func whatWouldEndTheFieldIsRefused(value: String) throws {
        var block = block
        #expect(throws: ErrandError.invalidHeader) { try block.set(.accept, to: value) }
        #expect(block == self.block)
    }

    @Test func otherTextIsSentAsUTF8() throws {
        let set = try block.setting(.accept, to: "é漢")
        #expect(set[.accept] == "é漢")
    }
}
