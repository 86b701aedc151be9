import Errand
import ErrandTesting
import Foundation
import Testing

@testable import ErrandSQLite

@Suite struct SQLiteCacheKillTests {
    /// Four processes write, read and remove in one file and are killed at seeded moments, over and over: none ends by
    /// itself, which it would on a record that is not whole, on an error or on a repair.
    @Test func killedWritersLeaveNoTornRecord() throws {
        let folder = try CacheFolder()
        var numbers = SeededGenerator(seed: 5)
        func start(_ writer: Int) throws -> ProgramRun {
            try ProgramRun(
                CacheFolder.probe, ["write", folder.path, "\(numbers.next() >> 1)"],
                output: folder.file("writer-\(writer)"))
        }
        for writer in 0..<4 { try folder.put([], in: "writer-\(writer)") }
        var writers = try (0..<4).map { try start($0) }
        for _ in 0..<60 {
            usleep(UInt32.random(in: 5_000...80_000, using: &numbers))
            let victim = Int.random(in: 0..<4, using: &numbers)
            writers[victim].signal(SIGKILL)
            #expect(writers[victim].wait() == 128 + SIGKILL)
            writers[victim] = try start(victim)
        }
        usleep(300_000)
        for writer in writers {
            writer.signal(SIGKILL)
            #expect(writer.wait() == 128 + SIGKILL)
        }
        for writer in 0..<4 {
            let text = String(decoding: try folder.bytes(of: "writer-\(writer)"), as: UTF8.self)
            #expect(text == "")
        }
        let (status, text) = try folder.probe(["verify", folder.path])
        #expect(status == 0, "\(text)")
        #expect(Int(text.dropLast()) ?? 0 > 0)
        #expect(try SQLiteConnection(path: folder.path).texts("PRAGMA integrity_check") == ["ok"])
        #expect(!folder.has("cache.sqlite.damaged"))
    }
}
