import Synchronization

/// How a group controls the run that it has started, identified by the number it gave that start. The user or another
/// group may run the same request before and after.
extension AnyRequest {
    /// The place of a group's run.
    enum ChildPlace {
        /// The run is under way, or begins after the callbacks of the previous run.
        case present
        /// The end of the run is being reported.
        case notifying
        /// The run has not begun, or is over.
        case elsewhere
    }

    private static let lastChild = Atomic<UInt32>(0)

    /// A number for the next child; never 0, which means no group.
    package static var nextChild: UInt32 { max(1, lastChild.wrappingAdd(1, ordering: .relaxed).newValue) }

    /// Stops the child's run as ``stop()`` does.
    package final func stop(child number: UInt32) {
        let action = core.withLock { core -> RequestStateMachine.ControlAction? in
            switch place(ofChild: number) {
            case .present: core.machine.childStopRequested(isNotifying: false)
            case .notifying: core.machine.childStopRequested(isNotifying: true)
            case .elsewhere: nil
            }
        }
        guard let action else { return }
        perform(action)
        group?.requestStopped()
    }

    /// Pauses or resumes the child's run as ``pause()`` and ``resume()`` do.
    package final func setPaused(_ isPaused: Bool, child number: UInt32) {
        perform(
            core.withLock { core in
                guard case .present = place(ofChild: number) else { return .none }
                return isPaused ? core.machine.pauseRequested() : core.machine.resumeRequested()
            })
    }
}
