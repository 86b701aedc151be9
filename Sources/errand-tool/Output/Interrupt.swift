import ArgumentParser
import Dispatch
import Foundation
import Synchronization

/// Calls a closure on the first SIGINT, SIGTERM or SIGHUP. A second signal of the same kind ends the process as usual;
/// another closure, if there is one, is called before. A SIGHUP that is ignored from the start (`nohup`) stays ignored.
///
/// `@unchecked Sendable`: dispatch sources are only cancelled, and any thread may cancel them.
final class Interrupt: @unchecked Sendable {
    private let sources: [any DispatchSourceSignal]

    /// The last signal received; 0: none.
    private static let received = Atomic<Int32>(0)

    private final class Seen: Sendable {
        let isFirst = Atomic(true)
    }

    /// - Parameter again: Called on the second signal, right before the process ends, on a thread of Dispatch, whatever
    ///   the tool does meanwhile. A third signal does not wait for it.
    init(_ action: @escaping @Sendable () -> Void, again: (@Sendable () -> Void)? = nil) {
        sources = [SIGINT, SIGTERM, SIGHUP].filter { $0 != SIGHUP || !Interrupt.isIgnored($0) }.map { number in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            let seen = Seen()
            source.setEventHandler {
                guard seen.isFirst.exchange(false, ordering: .relaxed) else {
                    signal(number, SIG_DFL)
                    again?()
                    // `raise` is not used, because the threads of Dispatch block signals.
                    kill(getpid(), number)
                    return
                }
                if again == nil { signal(number, SIG_DFL) }
                Interrupt.received.store(number, ordering: .relaxed)
                action()
            }
            source.resume()
            return source
        }
    }

    private static func isIgnored(_ number: Int32) -> Bool {
        var present = sigaction()
        guard sigaction(number, nil, &present) == 0 else { return false }
        // SIG_IGN is the pointer value 1, and Swift cannot compare function pointers.
        return unsafeBitCast(present.__sigaction_handler.sa_handler, to: Int.self) == 1
    }

    func end() {
        for source in sources { source.cancel() }
    }

    /// Ends the process with this code, or with the code of the signal that interrupted the tool. The code of a closed
    /// pipe ends the process by SIGPIPE, as if that signal had not been ignored.
    static func end(with code: Int32) -> Never {
        switch ExitStatus(rawValue: code) {
        case .interrupted:
            let number = received.load(ordering: .relaxed)
            exit(number == 0 ? code : 128 + number)
        case .brokenPipe:
            signal(SIGPIPE, SIG_DFL)
            raise(SIGPIPE)
            exit(code)
        default:
            exit(code)
        }
    }
}
