import Dispatch
import Foundation

/// Calls a closure on the first SIGINT or SIGTERM; the second one ends the process as usual.
///
/// `@unchecked Sendable`: dispatch sources may be cancelled from any thread; nothing else is done with them.
final class Interrupt: @unchecked Sendable {
    private let sources: [any DispatchSourceSignal]

    init(_ action: @escaping @Sendable () -> Void) {
        sources = [SIGINT, SIGTERM].map { number in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler {
                signal(number, SIG_DFL)
                action()
            }
            source.resume()
            return source
        }
    }

    func end() {
        for source in sources { source.cancel() }
    }
}
