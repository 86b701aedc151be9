import Errand
import Synchronization

/// A caller of the storm who waits: `run` or `stream`, in a task that may be cancelled.
final class StormTask: Sendable {
    /// How much of a streamed body is read.
    enum Reading: CaseIterable {
        case nothing, oneChunk, everything, everythingSlowly, inOnePiece
    }

    enum Way {
        case run
        case stream(Reading)
    }

    private let target: StormTarget
    private let command: StormCommand
    private let ledger: StormLedger
    private let stopsBefore: Int
    private let isCancelled = Atomic<Bool>(false)
    private let task = Mutex<Task<Void, Never>?>(nil)

    init(_ target: StormTarget, _ command: StormCommand, _ ledger: StormLedger) {
        self.target = target
        self.command = command
        self.ledger = ledger
        stopsBefore = ledger.generalStops.mark
    }

    func start(_ client: Client, _ way: Way) {
        ledger.openTasks.add(1, ordering: .relaxed)
        let started = Task {
            switch way {
            case .run: await run(client)
            case .stream(let reading): await stream(client, reading)
            }
            task.withLock { $0 = nil }
            ledger.openTasks.subtract(1, ordering: .relaxed)
        }
        task.withLock { $0 = started }
        ledger.started(true)
    }

    func cancel() {
        isCancelled.store(true, ordering: .relaxed)
        task.withLock { $0 }?.cancel()
    }

    private var mayBeStopped: Bool {
        isCancelled.load(ordering: .relaxed) || ledger.generalStops.happened(since: stopsBefore)
    }

    private func run(_ client: Client) async {
        let result = await client.result(of: command)
        ledger.judge(result.map(\.count), of: target, mayBeStopped: mayBeStopped, "run")
    }

    private func stream(_ client: Client, _ reading: Reading) async {
        let result: Result<Int, ErrandError>
        do {
            let response = try await client.stream(command)
            guard let count = try await read(response.body, reading) else { return ledger.ended("dropped") }
            result = .success(count)
        } catch let error as ErrandError {
            result = .failure(error)
        } catch is CancellationError {
            result = .failure(.cancelled)
        } catch {
            return ledger.problem("a stream of \(target) threw \(error)")
        }
        ledger.judge(result, of: target, mayBeStopped: mayBeStopped, "stream")
    }

    /// How many bytes there were; `nil` where they were not all read.
    private func read(_ body: ResponseBodyStream, _ reading: Reading) async throws -> Int? {
        switch reading {
        case .nothing:
            return nil
        case .oneChunk:
            var iterator = body.makeAsyncIterator()
            _ = try await iterator.next()
            return nil
        case .everything, .everythingSlowly:
            var count = 0
            for try await chunk in body {
                count += chunk.count
                if reading == .everythingSlowly { await StormDelay(microseconds: 300).wait() }
            }
            return count
        case .inOnePiece:
            return try await body.collect(upTo: 1 << 20).count
        }
    }
}
