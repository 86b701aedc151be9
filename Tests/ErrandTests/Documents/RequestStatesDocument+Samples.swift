import Errand

@testable import ErrandClient

/// What the document is made from: a value of every state, a call of every event.
extension RequestStatesDocument {
    private static let run = Machine.Run(transfer: 3, work: 5)
    private static let paused = Machine.Run(transfer: 3, isPaused: true, work: 5)
    private static let id = TransferID(rawValue: 9)

    /// Every state, and its variants that events tell apart.
    static let states: [State] = [
        .idle, .preparing(run), .preparing(paused), .submitting(run), .submitting(paused), .stoppedWhileSubmitting(run),
        .inFlight(run, id),
        .inFlight(paused, id), .stopping(run), .processing(run), .processing(paused), .working(run), .working(paused),
        .stoppedWhileProcessing(run),
        .ending(run), .endingStopped(run), .notifying(run, .succeeded, .init()),
        .notifying(run, .succeeded, .init(next: .init())),
        .notifying(run, .succeeded, .init(next: .init(isPaused: true))),
        .notifying(run, .succeeded, .init(next: .init(isStopped: true))), .finished(run, .succeeded),
        .finished(run, .failed(.timeoutIdle)), .finished(run, .cancelled),
    ]

    /// Every event.
    static let events: [Event] = [
        Event(name: "startRequested") { action($0.startRequested()) },
        Event(
            name: "workBegan",
            isPossible: isOneOf("submitting", "processing", "stoppedWhileSubmitting", "stoppedWhileProcessing")
        ) { $0.workBegan().map { "step \($0 == 6 ? "next" : "same")" } ?? "no step" },
        Event(name: "workEnded") { action($0.workEnded(5)) },
        Event(name: "workEnded", note: "for a step that was given up") { action($0.workEnded(4)) },
        Event(name: "isWorking") { action($0.isWorking(5)) },
        Event(name: "abandonRequested") { action($0.abandonRequested()) },
        Event(name: "maySubmit") { action($0.maySubmit(transfer: 3)) },
        Event(name: "submitted") { action($0.submitted(id, transfer: 3)) },
        Event(name: "submitted", note: "for an earlier transfer") { action($0.submitted(id, transfer: 2)) },
        Event(name: "transferContinues") { action($0.transferContinues(as: id)) },
        Event(name: "stopRequested") { action($0.stopRequested()) },
        Event(name: "childStopRequested") { action($0.childStopRequested(isNotifying: false)) },
        Event(name: "childStopRequested", note: "for the run whose callbacks are being called") {
            action($0.childStopRequested(isNotifying: true))
        },
        Event(name: "pauseRequested") { action($0.pauseRequested()) },
        Event(name: "resumeRequested") { action($0.resumeRequested()) },
        Event(name: "controlPerformed", note: "pause") { action($0.controlPerformed(.pause(id))) },
        Event(name: "controlPerformed", note: "resume") { action($0.controlPerformed(.resume(id))) },
        Event(name: "transferEnded") { action($0.transferEnded()) },
        Event(name: "hopDecided", isPossible: isOneOf("processing", "stoppedWhileProcessing")) {
            action($0.hopDecided())
        },
        Event(name: "processed", isPossible: isOneOf("processing", "stoppedWhileProcessing")) {
            action($0.processed())
        },
        Event(name: "concluded", isPossible: isOneOf("ending", "endingStopped")) { action($0.concluded(.succeeded)) },
        Event(name: "notified", isPossible: isOneOf("notifying")) { action($0.notified()) },
    ]

    private static func isOneOf(_ names: String...) -> @Sendable (State) -> Bool {
        { names.contains(word($0)) }
    }
}
