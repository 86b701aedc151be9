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
        #expect(run.end() == 0)
        let libraries = String(decoding: try Data(contentsOf: folder.file("libraries")), as: UTF8.self)
        #expect(libraries.contains("libcurl") && libraries.contains("libswiftCore"))
        #expect(!libraries.contains("FoundationXML") && !libraries.contains("libxml2"))
    }

    /// Each library that runs beneath the tool, with its version; those of libcurl as libcurl says.
    @Test func theVersionNamesEveryLibrary() throws {
        let run = try ToolRun(["--version"])
        let lines = run.text.split(separator: "\n")
        #expect(run.status == 0 && lines.count == 5)
        #expect(try #require(lines.first).wholeMatch(of: /errand \d+\.\d+\.\d+/) != nil)
        for library in ["libcurl", "nghttp2", "libuv", "SQLite"] {
            let version = try Regex("[: ]\(library)/\\d+\\.\\d+")
            #expect(run.text.matches(of: version).count == 1, "\(library): \(run.text)")
        }
        // libcurl has them, and so does the tool.
        for library in ["zlib", "brotli", "zstd"] {
            let version = try Regex(" \(library)/\\d+\\.\\d+")
            #expect(run.text.matches(of: version).count == 2, "\(library): \(run.text)")
        }
    }

    /// libcrypto is the one that libcurl brings: the process has one, and the program asks for none.
    @Test func nothingLinksLibcrypto() throws {
        let tests = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        let tool = URL(fileURLWithPath: tests).deletingLastPathComponent().appendingPathComponent("errand")
        let folder = try TemporaryFolder()
        try Data().write(to: folder.file("dynamic"))
        let run = try ProgramRun("/usr/bin/readelf", ["-d", tool.path], output: folder.file("dynamic").path)
        #expect(run.end() == 0)
        let dynamic = String(decoding: try Data(contentsOf: folder.file("dynamic")), as: UTF8.self)
        #expect(dynamic.contains("[libcurl.so") && !dynamic.contains("[libcrypto.so"))
    }
}
