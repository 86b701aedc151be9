import Errand
import Glibc
import Synchronization

/// A load for counting instructions and allocations, not time: requests, 64 in flight, started from closures, from tasks
/// that send one request after another, or from one task for each request. The program does nothing else, and the main
/// thread sleeps, so that twice as many requests cost exactly twice as much.
final class Load: Sendable {
    private struct Get: Command {
        typealias Response = Errand.Response
        let path: String
    }

    /// From where requests are started.
    enum Start {
        case closures
        case async
        case taskEach
    }

    private static let width = 64

    private let client: Client
    private let command: Get
    private let left: Atomic<Int>
    private let running = Atomic<Int>(Load.width)
    private let failures = Atomic<Int>(0)
    private let isDone = Semaphore()

    private init(_ configuration: Client.Configuration, path: String, count: Int) {
        client = Client(configuration: configuration)
        command = Get(path: path)
        left = Atomic(count)
    }

    /// A program: `NAME BASE-URL PATH COUNT MODE`. `settle` makes the settings of the mode. Ends the process.
    static func main<Mode: RawRepresentable & CaseIterable>(
        _ name: String, _ modes: Mode.Type, _ settle: (Mode, inout Client.Configuration) -> Start
    ) -> Never where Mode.RawValue == String {
        let arguments = CommandLine.arguments
        guard arguments.count == 5, let count = Int(arguments[3]), count > 0,
            let mode = Mode(rawValue: arguments[4])
        else {
            let names = Mode.allCases.map(\.rawValue).joined(separator: "|")
            say("usage: \(name) BASE-URL PATH COUNT \(names)\n")
            exit(64)
        }
        var configuration = Client.Configuration(baseURL: arguments[1])
        configuration.loops = 1
        let start = settle(mode, &configuration)
        let load = Load(configuration, path: arguments[2], count: count)
        load.run(start)
        let failures = load.failures.load(ordering: .relaxed)
        if failures > 0 { say("\(name): \(failures) requests failed\n") }
        exit(failures == 0 ? 0 : 1)
    }

    private static func say(_ text: String) {
        var text = text
        text.withUTF8 { _ = write(STDERR_FILENO, $0.baseAddress, $0.count) }
    }

    private func run(_ start: Start) {
        for _ in 0..<Load.width {
            switch start {
            case .closures: next()
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
