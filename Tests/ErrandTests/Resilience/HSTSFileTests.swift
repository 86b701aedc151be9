import Errand
import ErrandTesting
import Foundation
import Testing

@testable import ErrandModel
@testable import ErrandResilience

/// ``HSTSStore/load(from:)`` and ``HSTSStore/save(to:)``.
@Suite struct HSTSFileTests {
    private func store(_ hosts: some Sequence<String>) -> HSTSStore {
        let store = HSTSStore(preloads: [.init("preloaded.test")])
        for host in hosts { store.learn(["max-age=3600; includeSubDomains"], from: host, overFaultlessTLS: true) }
        return store
    }

    @Test func aRoundTrip() throws {
        let folder = try DownloadFolder()
        let path = folder.path + "/hsts"
        let saved = store(["a.test", "b.test"])
        try saved.save(to: path)
        let loaded = HSTSStore()
        #expect(try loaded.load(from: path) == 0)
        #expect(loaded.text == saved.text && loaded.count == 2)
        #expect(loaded.isKnown("x.a.test") && !loaded.isKnown("preloaded.test"))
        // A save replaces the file, and leaves nothing beside it.
        saved.forget("a.test")
        try saved.save(to: path)
        let again = HSTSStore()
        #expect(try again.load(from: path) == 0)
        #expect(!again.isKnown("a.test") && again.isKnown("b.test"))
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["hsts"])
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
    }

    /// The links stay, and the file that they lead to is replaced where it is.
    @Test func aLinkIsWrittenThrough() throws {
        let (folder, other) = (try DownloadFolder(), try DownloadFolder())
        let path = folder.path + "/hsts"
        #expect(symlink("link", path) == 0 && symlink(other.path + "/real", folder.path + "/link") == 0)
        // The first save makes the file.
        for host in ["a.test", "b.test"] {
            try store([host]).save(to: path)
            let loaded = HSTSStore()
            #expect(try loaded.load(from: other.path + "/real") == 0)
            #expect(loaded.count == 1 && loaded.isKnown(host))
        }
        let files = FileManager.default
        #expect(try files.destinationOfSymbolicLink(atPath: path) == "link")
        #expect(try files.destinationOfSymbolicLink(atPath: folder.path + "/link") == other.path + "/real")
        #expect(try files.contentsOfDirectory(atPath: folder.path).sorted() == ["hsts", "link"])
        #expect(try files.contentsOfDirectory(atPath: other.path) == ["real"])
        #expect(symlink("circle", folder.path + "/circle") == 0)
        #expect(throws: ErrandError.fileUnwritable) { try store(["a.test"]).save(to: folder.path + "/circle") }
    }

    @Test(arguments: [0o644, 0o640, 0o400]) func thePermissionsStay(mode: Int) throws {
        let folder = try DownloadFolder()
        let path = folder.path + "/hsts"
        try store(["a.test"]).save(to: path)
        #expect(chmod(path, mode_t(mode)) == 0 && symlink("hsts", folder.path + "/link") == 0)
        for name in ["hsts", "link"] {
            try store(["b.test"]).save(to: folder.path + "/" + name)
            let found = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
            #expect(found == mode)
        }
    }

    /// What the group of the former file may do is not for another group.
    @Test func theGroupStays() throws {
        let folder = try DownloadFolder()
        let path = folder.path + "/hsts"
        try store(["a.test"]).save(to: path)
        var groups = [gid_t](repeating: 0, count: 256)
        let count = Int(getgroups(256, &groups))
        // Root may give a file to every group, others to those that they are in.
        let group: gid_t? =
            geteuid() == 0 ? 54_321 : groups.prefix(max(0, count)).first { $0 != getegid() }
        guard let group, chown(path, .max, group) == 0 else { return }
        #expect(chmod(path, 0o660) == 0)
        try store(["b.test"]).save(to: path)
        var status = stat()
        guard stat(path, &status) == 0 else { throw ErrandError.fileUnreadable }
        #expect(status.st_gid == group && status.st_mode & 0o777 == 0o660)
    }

    /// A name that was repaired would be another one.
    @Test func aLinkThatIsNotUTF8() throws {
        let folder = try DownloadFolder()
        let path = folder.path + "/hsts"
        let target = [CChar(bitPattern: 0xFF), 0]
        #expect(symlink(target, path) == 0)
        #expect(throws: ErrandError.fileUnwritable) { try store(["a.test"]).save(to: path) }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["hsts"])
    }

    @Test func aFileThatIsNotThere() throws {
        let store = store(["a.test"])
        #expect(try store.load(from: "/nowhere/hsts") == 0)
        #expect(store.count == 1)
    }

    @Test func aDamagedFile() throws {
        let folder = try DownloadFolder()
        let path = folder.path + "/hsts"
        var bytes = Array("a.test \"unlimited\"\nnonsense\n".utf8)
        bytes += [0xFF, 0x00, 0xC3, 0x0A] + Array("b.test \"unlimited\"".utf8)
        try Data(bytes).write(to: URL(fileURLWithPath: path))
        let store = HSTSStore()
        #expect(try store.load(from: path) == 2)
        #expect(store.isKnown("a.test") && store.isKnown("b.test"))
    }

    @Test func errors() throws {
        let folder = try DownloadFolder()
        let store = store(["a.test"])
        for path in ["", "a\0b"] {
            #expect(throws: ErrandError.invalidOption) { try store.load(from: path) }
            #expect(throws: ErrandError.invalidOption) { try store.save(to: path) }
        }
        #expect(throws: ErrandError.fileUnreadable) { try store.load(from: folder.path) }
        #expect(throws: ErrandError.fileIsDirectory) { try store.save(to: folder.path) }
        #expect(throws: ErrandError.directoryMissing) { try store.save(to: folder.path + "/none/hsts") }
        // A pipe without a writer would hold the caller up.
        let pipe = folder.path + "/pipe"
        #expect(mkfifo(pipe, 0o600) == 0)
        #expect(throws: ErrandError.fileUnreadable) { try store.load(from: pipe) }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["pipe"])
    }

    /// A limit of file size, in a process of its own, stands for a full disk: the former file stays.
    @Test func aFullDisk() async throws {
        let folder = try DownloadFolder()
        let path = folder.path + "/hsts"
        try store(["a.test"]).save(to: path)
        await #expect(processExitsWith: .exitCode(7)) { [path = path as String] in
            signal(SIGXFSZ, SIG_IGN)
            var limit = rlimit(rlim_cur: 4096, rlim_max: 4096)
            setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
            let store = HSTSStore()
            for index in 0..<1000 {
                store.learn(["max-age=3600"], from: "h\(index).test", overFaultlessTLS: true)
            }
            do {
                try store.save(to: path)
            } catch ErrandError.diskFull {
                exit(7)
            }
            exit(1)
        }
        let kept = HSTSStore()
        #expect(try kept.load(from: path) == 0)
        #expect(kept.count == 1 && kept.isKnown("a.test"))
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["hsts"])
    }

    /// Writers at the same time: a reader sees a whole file of one of them.
    @Test func writersAtTheSameTime() async throws {
        let folder = try DownloadFolder()
        let path = folder.path + "/hsts"
        let stores = (0..<4).map { writer in store((0..<500).map { "h\($0).w\(writer).test" }) }
        try stores[0].save(to: path)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for store in stores {
                group.addTask { for _ in 0..<20 { try store.save(to: path) } }
            }
            group.addTask {
                for _ in 0..<40 {
                    let read = HSTSStore()
                    let badCount = try read.load(from: path)
                    #expect(badCount == 0 && read.count == 500)
                }
            }
            try await group.waitForAll()
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["hsts"])
    }
}
