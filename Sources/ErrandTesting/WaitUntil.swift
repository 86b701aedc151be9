#if canImport(Glibc)
import Glibc
#endif

/// A condition that did not become true in time. The text names the condition and the line that waited for it.
package struct WaitTimedOut: Error, CustomStringConvertible {
    package let condition: String
    package let place: String
    /// Whether the task was cancelled, by a test's time limit for example, before the time was up.
    package let isCancelled: Bool

    package var description: String {
        "\(place): \(isCancelled ? "cancelled while waiting" : "timed out") until \(condition)"
    }
}

/// Returns when the condition is true; checks it every millisecond. Tests of this package wait only by this function,
/// so that a test that would hang fails instead and says what it waited for.
///
/// - Parameters:
///   - condition: The condition in words, as the rest of a sentence that begins with "waits until".
///   - limit: The longest wait. The default is five minutes, which is long enough for an overloaded machine, so that
///     only a fault exceeds the limit.
/// - Throws: `WaitTimedOut` when the time is up or the task is cancelled; any error that `isTrue` throws.
package func waitUntil(
    _ condition: String, within limit: Duration = .seconds(300), isolation: isolated (any Actor)? = #isolation,
    file: String = #fileID, line: Int = #line, _ isTrue: () throws -> Bool
) async throws {
    let deadline = ContinuousClock.now + limit
    while try !isTrue() {
        let isCancelled = (try? await Task.sleep(for: .milliseconds(1))) == nil
        if isCancelled || ContinuousClock.now > deadline {
            if try isTrue() { return }
            let failure = WaitTimedOut(condition: condition, place: "\(file):\(line)", isCancelled: isCancelled)
            // swift-testing reports the time limit of a test, and not the error that the cancelled test then throws.
            if isCancelled { print("waitUntil: \(failure)") }
            throw failure
        }
    }
}

/// Waits in a test that expects that nothing happens, so that a fault has time to show. Correct code passes however
/// long this takes: timing can hide a fault here, but cannot make a correct program fail.
///
/// - Parameters:
///   - fault: What would happen if the code were wrong.
///   - time: How long to wait for the fault; 20 ms by default.
package func allowTime(for fault: String, _ time: Duration = .milliseconds(20)) async {
    try? await Task.sleep(for: time)
}

/// Like ``waitUntil(_:within:isolation:file:line:_:)``, for tests that are not asynchronous: blocks the thread.
package func blockUntil(
    _ condition: String, within limit: Duration = .seconds(300), file: String = #fileID, line: Int = #line,
    _ isTrue: () throws -> Bool
) throws {
    let deadline = ContinuousClock.now + limit
    while try !isTrue() {
        if ContinuousClock.now > deadline {
            throw WaitTimedOut(condition: condition, place: "\(file):\(line)", isCancelled: false)
        }
        usleep(1000)
    }
}
