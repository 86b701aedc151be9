import Testing

/// A member of a type that is not taken must not compile: the protocol's default would take its place in silence.
@Suite struct WrongMembersTests {
    @Test func aMemberOfAWrongTypeIsAnErrorThatNamesIt() throws {
        let wrong = [
            "method": "Int { 1 }", "headers": "[String: Int] { [:] }", "body": "Int { 1 }", "query": "[Int] { [] }",
            "baseURL": "Int { 1 }", "authorization": "String { \"\" }", "cache": "Bool { true }",
            "timeouts": "Int { 1 }", "interceptors": "[Int] { [] }", "options": "CommandOptions? { nil }",
            "coordinator": "String { \"\" }", "validator": "@Sendable (String) -> Void { { _ in } }",
        ]
        var source = "import Errand\nstruct Right: Command { var path = \"x\"; var body = \"text\" }\n"
        for (member, rest) in wrong.sorted(by: { $0.key < $1.key }) {
            source += "struct Wrong_\(member): Command { var path = \"x\"; var \(member): \(rest) }\n"
        }
        let (code, text) = try Compiler.check(source)
        #expect(code == 1)
        #expect(!text.contains("no such module"), "\(text)")
        #expect(!text.contains("'Right'"), "\(text)")
        for member in wrong.keys {
            #expect(text.contains("error: type 'Wrong_\(member)' does not conform to protocol 'Command'"), "\(text)")
            let name = "given" + member.prefix(1).uppercased() + member.dropFirst()
            #expect(text.contains("protocol requires property '\(name)'"), "\(member): \(text)")
        }
    }
}
