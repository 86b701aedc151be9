import ErrandTesting
import Foundation
import Synchronization
import Testing

@Suite struct ChildProcessTests {
    private final class Reader: Sendable {
        let hasBegun = Atomic(false)
        let line = Mutex<String??>(.none)
    }

    /// `cat` writes nothing, so the reader waits until the process is stopped.
    @Test func stoppingEndsARead() async throws {
        let child = try ChildProcess("/bin/cat")
        let reader = Reader()
        Thread.detachNewThread {
            reader.hasBegun.store(true, ordering: .relaxed)
            let line = child.readLine()
            reader.line.withLock { $0 = .some(line) }
        }
        try await waitUntil("the reader has begun") { reader.hasBegun.load(ordering: .relaxed) }
        await allowTime(for: "a reader that keeps the process from being stopped")
        child.stop()
        try await waitUntil("the read has ended") { reader.line.withLock { $0 != .none } }
        #expect(reader.line.withLock { $0 } == .some(.none))
        #expect(child.readLine() == nil)
    }
}
