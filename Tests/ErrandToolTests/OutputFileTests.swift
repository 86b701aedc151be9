import ErrandTesting
import Foundation
import Testing

@testable import errand

/// What `-o` does to what is there already.
@Suite struct OutputFileTests {
    private func save(_ text: String, _ path: String) throws {
        var file = try OutputFile(path)
        try Array(text.utf8).withUnsafeBytes { bytes throws in try file.write(bytes) }
        try file.finish()
    }

    private func mode(_ url: URL) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: url.path)[.posixPermissions] as? Int
    }

    @Test(arguments: [0o600, 0o640, 0o755, 0o666]) func keepsTheMode(_ bits: Int) throws {
        let folder = try TemporaryFolder()
        let file = folder.file("a")
        try Data("before".utf8).write(to: file)
        try FileManager.default.setAttributes([.posixPermissions: bits], ofItemAtPath: file.path)
        try save("after", file.path)
        #expect(try String(contentsOf: file, encoding: .utf8) == "after")
        #expect(try mode(file) == bits)
        #expect(folder.names == ["a"])
    }

    @Test func writesWhereALinkLeads() throws {
        let folder = try TemporaryFolder()
        try FileManager.default.createDirectory(at: folder.file("there"), withIntermediateDirectories: true)
        for (link, target) in [("one", "there/a"), ("two", "one"), ("three", folder.file("there/b").path)] {
            try FileManager.default.createSymbolicLink(atPath: folder.file(link).path, withDestinationPath: target)
        }
        // Once to what is not there yet, once to what is.
        for text in ["first", "second"] {
            for (link, target) in [("two", "there/a"), ("three", "there/b")] {
                try save(text, folder.file(link).path)
                #expect(try String(contentsOf: folder.file(target), encoding: .utf8) == text)
                #expect(try FileManager.default.destinationOfSymbolicLink(atPath: folder.file(link).path) != "")
            }
        }
        #expect(folder.names == ["one", "there", "three", "two"])
    }

    @Test func leavesTheUsersPartFile() throws {
        let folder = try TemporaryFolder()
        try Data("mine".utf8).write(to: folder.file("a.part"))
        try save("x", folder.file("a").path)
        #expect(try String(contentsOf: folder.file("a.part"), encoding: .utf8) == "mine")
        #expect(folder.names == ["a", "a.part"])
    }

    @Test func failedRenameLeavesNothing() throws {
        let folder = try TemporaryFolder()
        // The name becomes a folder's while the download goes on.
        let becomesFolder = {
            var file = try OutputFile(folder.file("a").path)
            try FileManager.default.createDirectory(at: folder.file("a"), withIntermediateDirectories: true)
            try file.finish()
        }
        #expect(throws: OutputFile.Failure.self) { try becomesFolder() }
        #expect(folder.names == ["a"])
    }

    @Test func takesTheLongestName() throws {
        let folder = try TemporaryFolder()
        let name = String(repeating: "n", count: 255)
        try save("x", folder.file(name).path)
        #expect(folder.names == [name])
    }

    @Test func circlesAndFoldersAreErrors() throws {
        let folder = try TemporaryFolder()
        try FileManager.default.createSymbolicLink(atPath: folder.file("a").path, withDestinationPath: "b")
        try FileManager.default.createSymbolicLink(atPath: folder.file("b").path, withDestinationPath: "a")
        for path in [folder.file("a").path, folder.url.path, folder.file("none/").path + "/", ""] {
            #expect(throws: OutputFile.Failure.self, "\(path)") { try save("x", path) }
        }
        #expect(folder.names == ["a", "b"])
    }

    @Test func twoNamesOfOneFileAreRefused() throws {
        let server = try ScriptedServer()
        try server.on(nil, [.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")])
        let folder = try TemporaryFolder()
        try FileManager.default.createSymbolicLink(atPath: folder.file("link").path, withDestinationPath: "a")
        for other in ["./a", "link", "../" + folder.url.lastPathComponent + "/a"] {
            let paths = ["-o", folder.file("a").path, "-o", folder.url.path + "/" + other]
            let run = try ToolRun(["fetch", server.url("/"), server.url("/")] + paths)
            #expect(run.status == 64 && run.errors.contains("names the same file twice"), "\(run.errors)")
        }
        #expect(server.counts.connections == 0)
    }
}
