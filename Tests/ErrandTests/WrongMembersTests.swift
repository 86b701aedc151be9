import ErrandTesting
import Foundation
import Testing

/// A member of a type that is not taken must not compile: the protocol's default would take its place in silence.
@Suite struct WrongMembersTests {
    /// What the compiler says of a file that imports Errand.
    private func compiled(_ source: String) throws -> (code: Int32?, text: String) {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("errand-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appendingPathComponent("Wrong.swift")
        try source.write(to: file, atomically: true, encoding: .utf8)
        let output = folder.appendingPathComponent("output")
        try Data().write(to: output)
        let products = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
        // Clang modules that Errand imports, for itself alone.
        let core = products.path + "/CErrand.build/module.modulemap"
        let zlib = SourceTree.root.path + "/Sources/CZlib"
        let arguments = [
            "swiftc", "-typecheck", "-swift-version", "6", "-I", products.path + "/Modules",
            "-Xcc", "-fmodule-map-file=" + core, "-I", zlib, file.path,
        ]
        let run = try ProgramRun("/usr/bin/env", arguments, output: output.path)
        let code = run.wait(seconds: 300)
        if code == nil { run.kill() }
        return (code, try String(contentsOf: output, encoding: .utf8))
    }

    @Test func aMemberOfAWrongTypeIsAnErrorThatNamesIt() throws {
        let wrong = [
            "method": "Int { 1 }", "headers": "[String: Int] { [:] }", "body": "Int { 1 }", "query": "[Int] { [] }",
            "baseURL": "Int { 1 }", "authorization": "String { \"\" }", "cache": "Bool { true }",
            "timeouts": "Int { 1 }", "interceptors": "[Int] { [] }", "options": "CommandOptions? { nil }",
            "validator": "@Sendable (String) -> Void { { _ in } }",
        ]
        var source = "import Errand\nstruct Right: Command { var path = \"x\"; var body = \"text\" }\n"
        for (member, rest) in wrong.sorted(by: { $0.key < $1.key }) {
            source += "struct Wrong_\(member): Command { var path = \"x\"; var \(member): \(rest) }\n"
        }
        let (code, text) = try compiled(source)
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
