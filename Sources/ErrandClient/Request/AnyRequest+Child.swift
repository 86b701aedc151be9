import Synchronization

/// What a group does to the run that it has started, by the number it gave that start. Its user, or another group, may
/// run the same request before and after.
extension AnyRequest {
    /// Where a group's run is.
    enum ChildPlace {
        /// It runs, or begins when the end of the run before was told.
        case present
        /// Its end is being told.
        case told
        /// It has not begun, or is over.
        case elsewhere
    }

    private static let lastChild = Atomic<UInt32>(0)

    /// Never 0, which is nobody's.
    package static var nextChild: UInt32 { max(1, lastChild.wrappingAdd(1, ordering: .relaxed).newValue) }

    /// As ``stop()``.
    package final func stop(child number: UInt32) {
        let action = core.withLock { core -> RequestStateMachine.ControlAction? in
            switch place(ofChild: number) {
            case .present: core.machine.childStopRequested(isTold: false)
            case .told: core.machine.childStopRequested(isTold: true)
            case .elsewhere: nil
            }
        }
        guard let action else { return }
        perform(action)
        group?.requestStopped()
    }

    /// As ``pause()`` and ``resume()``.
    package final func setPaused(_ isPaused: Bool, child number: UInt32) {
        perform(
            core.withLock { core in
                guard case .present = place(ofChild: number) else { return .none }
                return isPaused ? core.machine.pauseRequested() : core.machine.resumeRequested()
            })
    }
}
