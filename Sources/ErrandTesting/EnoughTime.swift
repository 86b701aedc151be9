/// The lengths of the attempts, in their order.
private let lengths: [Duration] = [.milliseconds(300), .seconds(3), .seconds(30), .seconds(120)]

/// Calls the closure with a short time, and with longer ones as long as it returns `nil`: 300 ms, 3 s, 30 s, two
/// minutes. This way a test whose run ends after a given time does not depend on the speed of the machine.
///
/// - Parameters:
///   - condition: What must happen in the run, in words, as the rest of a sentence that begins with "waits until".
///   - run: Makes a new run of that length. Returns `nil` only if the run was too slow, and not if its result is wrong.
/// - Throws: `WaitTimedOut` if the condition was not true in the longest run either; any error of `run`.
package func withEnoughTime<Result>(
    _ condition: String, isolation: isolated (any Actor)? = #isolation, file: String = #fileID, line: Int = #line,
    _ run: (Duration) async throws -> Result?
) async throws -> Result {
    for length in lengths {
        if let result = try await run(length) { return result }
    }
    throw WaitTimedOut(condition: condition, place: "\(file):\(line)", isCancelled: false)
}

/// Like ``withEnoughTime(_:isolation:file:line:_:)``, for tests that are not asynchronous.
package func blockWithEnoughTime<Result>(
    _ condition: String, file: String = #fileID, line: Int = #line, _ run: (Duration) throws -> Result?
) throws -> Result {
    for length in lengths {
        if let result = try run(length) { return result }
    }
    throw WaitTimedOut(condition: condition, place: "\(file):\(line)", isCancelled: false)
}
