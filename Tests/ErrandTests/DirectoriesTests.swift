import Foundation
import Testing

@testable import ErrandModel

@Suite struct DirectoriesTests {
    @Test func theyAreMadeWithTheirParents() throws {
        let base = FileManager.default.temporaryDirectory.path + "/errand-directories-\(UUID())"
        defer { try? FileManager.default.removeItem(atPath: base) }
        for _ in 0..<2 { #expect(Directories.make(base + "/a//b/c/", mode: 0o700) == nil) }
        var isDirectory: ObjCBool = false
        #expect(FileManager.default.fileExists(atPath: base + "/a/b/c", isDirectory: &isDirectory))
        #expect(isDirectory.boolValue)

        #expect(FileManager.default.createFile(atPath: base + "/file", contents: nil))
        for path in [base + "/file", base + "/file/below"] {
            let failure = Directories.make(path, mode: 0o700)
            #expect(failure?.path == base + "/file" && failure?.error == SystemError(ENOTDIR))
        }
        let failure = Directories.make("/proc/none/below", mode: 0o700)
        #expect(failure?.path == "/proc/none" && failure?.error == SystemError(ENOENT))
    }
}
