import Errand
import Glibc
import Synchronization

/// A load for counting instructions and allocations, not time: `COUNT` requests, 64 in flight, started from closures,
/// from tasks that send one request after another, or from one task for each request; or from closures of a client with
/// retries and a circuit breaker, which nothing needs. The program does nothing else, and the main thread sleeps, so that
/// twice as many requests cost exactly twice as much.
@main
final class Gates: Sendable {
    private struct Get: Command {
        typealias Response = Errand.Response
        let path: String
    }

    private enum Mode: String {
        case closures
        case async
        case taskEach = "task-each"
        case resilient
    }

    private static let width = 64

    private let client: Client
    private let command: Get
    private let left: Atomic<Int>
    private let running = Atomic<Int>(Gates.width)
    private let failures = Atomic<Int>(0)
    private let isDone = Semaphore()

    private init(base: String, path: String, count: Int, isResilient: Bool) {
        var configuration = Client.Configuration(baseURL: base)
        configuration.loops = 1
        if isResilient { configuration.resilience = .standard }
        client = Client(configuration: configuration)
        command = Get(path: path)
        left = Atomic(count)
    }

    static func main() {
        let arguments = CommandLine.arguments
        guard arguments.count == 5, let count = Int(arguments[3]), count > 0,
            let mode = Mode(rawValue: arguments[4])
        else {
            say("usage: errand-gates BASE-URL PATH COUNT closures|async|task-each|resilient\n")
            exit(64)
        }
        let gates = Gates(
            base: arguments[1], path: arguments[2], count: count, isResilient: mode == .resilient)
        gates.run(mode)
        let failures = gates.failures.load(ordering: .relaxed)
        if failures > 0 { say("errand-gates: \(failures) requests failed\n") }
        exit(failures == 0 ? 0 : 1)
    }

    private static func say(_ text: String) {
        var text = text
        text.withUTF8 { _ = write(STDERR_FILENO, $0.baseAddress, $0.count) }
    }

    private func run(_ mode: Mode) {
        for _ in 0..<Gates.width {
            switch mode {
            case .closures, .resilient: next()
            case .async: runTask()
            case .taskEach: nextTask()
            }
        }
        isDone.wait()
        client.shutdown(.cancel) { self.isDone.signal() }
        isDone.wait()
    }

    private func runTask() {
        Task.detached { [self] in
            while takes() {
                do {
                    count(try await client.run(command).statusCode)
                } catch {
                    count(nil)
                }
            }
            ended()
        }
    }

    /// One task for each request, as in a service. Its stack use is visible in the allocations: a second slab is one
    /// more.
    private func nextTask() {
        guard takes() else { return ended() }
        Task.detached { [self] in
            do {
                count(try await client.run(command).statusCode)
            } catch {
                count(nil)
            }
            nextTask()
        }
    }

    private func next() {
        guard takes() else { return ended() }
        client.start(command) { [self] request in
            count(request.response?.statusCode)
            next()
        }
    }

    private func takes() -> Bool {
        left.wrappingSubtract(1, ordering: .relaxed).oldValue > 0
    }

    private func count(_ status: Int?) {
        if status != 200 { failures.wrappingAdd(1, ordering: .relaxed) }
    }

    private func ended() {
        if running.wrappingSubtract(1, ordering: .acquiringAndReleasing).newValue == 0 { isDone.signal() }
    }
}
