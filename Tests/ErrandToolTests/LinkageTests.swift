import ErrandTesting
import Foundation
import Testing

/// An import costs only what it uses: XML is a product of its own, because FoundationXML brings libxml2 and ICU.
@Suite struct LinkageTests {
    @Test func theToolDoesNotLinkXML() throws {
        let tests = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        let tool = URL(fileURLWithPath: tests).deletingLastPathComponent().appendingPathComponent("errand")
        let folder = try TemporaryFolder()
        try Data().write(to: folder.file("libraries"))
        let run = try ProgramRun("/usr/bin/ldd", [tool.path], output: folder.file("libraries").path)
        #expect(run.wait() == 0)
        let libraries = String(decoding: try Data(contentsOf: folder.file("libraries")), as: UTF8.self)
        #expect(libraries.contains("libcurl") && libraries.contains("libswiftCore"))
        #expect(!libraries.contains("FoundationXML") && !libraries.contains("libxml2"))
    }
}
