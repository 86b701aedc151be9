import ArgumentParser
import Dispatch
import Foundation
import Synchronization

/// Calls a closure on the first SIGINT, SIGTERM or SIGHUP; a second signal of the same kind ends the process as usual.
/// A SIGHUP that is ignored from the start (`nohup`) stays ignored.
///
/// `@unchecked Sendable`: dispatch sources may be cancelled from any thread; nothing else is done with them.
final class Interrupt: @unchecked Sendable {
    private let sources: [any DispatchSourceSignal]

    /// The last signal received; 0: none.
    private static let received = Atomic<Int32>(0)

    init(_ action: @escaping @Sendable () -> Void) {
        sources = [SIGINT, SIGTERM, SIGHUP].filter { $0 != SIGHUP || !Interrupt.isIgnored($0) }.map { number in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler {
                signal(number, SIG_DFL)
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

    /// Ends the process with this code, or with the code of the signal that interrupted the tool. Where SIGPIPE would
    /// have ended the process if it were not ignored, the process ends by SIGPIPE.
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
