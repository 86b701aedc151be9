import Foundation
import Testing

/// An import costs only what it uses: XML is a product of its own, because FoundationXML brings libxml2 and ICU.
@Suite struct LinkageTests {
    @Test func theToolDoesNotLinkXML() throws {
        let tests = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        let tool = URL(fileURLWithPath: tests).deletingLastPathComponent().appendingPathComponent("errand")
        let pipe = Pipe()
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/ldd")
        process.arguments = [tool.path]
        process.standardOutput = pipe
        try process.run()
        let libraries = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
        #expect(libraries.contains("libcurl") && libraries.contains("libswiftCore"))
        #expect(!libraries.contains("FoundationXML") && !libraries.contains("libxml2"))
    }
}
