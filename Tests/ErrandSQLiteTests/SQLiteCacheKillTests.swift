import Errand
import ErrandTesting
import Foundation
import Testing

@testable import ErrandSQLite

@Suite struct SQLiteCacheKillTests {
    /// Four processes write, read and remove in one file and are killed at seeded moments, over and over, while two more
    /// read: none ends by itself, which it would on a record that is not whole, on an error or, writing, on a repair.
    @Test func killedWritersLeaveNoTornRecord() throws {
        let folder = try CacheFolder()
        var numbers = SeededGenerator(seed: 5)
        func start(_ writer: Int) throws -> ProgramRun {
            try ProgramRun(
                CacheFolder.probe, ["write", folder.path, "\(numbers.next() >> 1)"],
                output: folder.file("writer-\(writer)"))
        }
        for place in 0..<4 { try folder.put([], in: "writer-\(place)") }
        for place in 0..<2 { try folder.put([], in: "reader-\(place)") }
        var writers = try (0..<4).map { try start($0) }
        let readers = try (0..<2).map {
            try ProgramRun(CacheFolder.probe, ["read", folder.path], output: folder.file("reader-\($0)"))
        }
        // They have come to their work, or all of them might be killed before it.
        do {
            try blockUntil("the writers have written 64 KiB of log") {
                (try? folder.bytes(of: "cache.sqlite-wal").count) ?? 0 > 64 << 10
            }
            for _ in 0..<60 {
                // Pause: the kill comes at a seeded moment of the writer's work.
                usleep(UInt32.random(in: 5_000...80_000, using: &numbers))
                let victim = Int.random(in: 0..<4, using: &numbers)
                writers[victim].signal(SIGKILL)
                #expect(writers[victim].wait() == 128 + SIGKILL)
                writers[victim] = try start(victim)
            }
        } catch {
            for program in writers + readers { program.kill() }
            throw error
        }
        // Pause: the writers and readers that are left go on beside each other.
        usleep(300_000)
        for program in writers + readers {
            program.signal(SIGKILL)
            #expect(program.wait() == 128 + SIGKILL)
        }
        for name in (0..<4).map({ "writer-\($0)" }) + (0..<2).map({ "reader-\($0)" }) {
            #expect(String(decoding: try folder.bytes(of: name), as: UTF8.self) == "")
        }
        let (status, text) = try folder.probe(["verify", folder.path])
        #expect(status == 0, "\(text)")
        #expect(Int(text.dropLast()) ?? 0 > 0)
        #expect(try SQLiteConnection(path: folder.path).texts("PRAGMA integrity_check") == ["ok"])
        #expect(!folder.has("cache.sqlite.damaged"))
    }
}
