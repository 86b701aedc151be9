import Testing

@testable import ErrandEngine

/// Orders that come before and after the id of a transfer.
@Suite struct TransferControlTests {
    private let id = TransferID(rawValue: 7)

    private func control(isPaused: Bool = false, isCancelled: Bool = false, isOpen: Bool) -> TransferControl {
        var control = TransferControl(isPaused: isPaused)
        if isCancelled { #expect(control.cancel() == .none) }
        if isOpen { _ = control.opened(id) }
        return control
    }

    @Test func whatWasAskedBeforeTheIDIsPassedOn() {
        for isPaused in [false, true] {
            for isCancelled in [false, true] {
                var control = control(isPaused: isPaused, isCancelled: isCancelled, isOpen: false)
                #expect(control.id == nil)
                #expect(control.isCancelled == isCancelled)
                #expect(control.opened(id) == (isCancelled ? .cancel(id) : isPaused ? .pause(id) : .none))
                #expect(control.id == id)
                #expect(control.isCancelled == isCancelled)
            }
        }
    }

    @Test func aPauseThatEndedBeforeTheIDIsNotPassedOn() {
        var control = control(isOpen: false)
        #expect(control.setPaused(true) == .none)
        #expect(control.isPaused)
        #expect(control.setPaused(false) == .none)
        #expect(control.opened(id) == .none)
    }

    @Test func ordersAfterTheIDAreGivenOnce() {
        var control = control(isOpen: true)
        #expect(control.setPaused(false) == .none)
        #expect(control.setPaused(true) == .pause(id))
        #expect(control.setPaused(true) == .none)
        #expect(control.setPaused(false) == .resume(id))
        #expect(control.cancel() == .cancel(id))
        #expect(control.cancel() == .none)
        #expect(control.setPaused(true) == .none)
    }

    /// Two threads decide under the lock and act after it, in the other order.
    @Test func anOrderThatWasOvertakenIsUndone() {
        var control = control(isOpen: true)
        let pause = control.setPaused(true)
        let resume = control.setPaused(false)
        #expect(control.performed(resume) == .none)
        #expect(control.performed(pause) == .resume(id))
        _ = control.cancel()
        #expect(control.performed(pause) == .none)
        #expect(control.performed(.cancel(id)) == .none)
    }

    @Test func aSecondIDChangesNothing() {
        var control = control(isOpen: true)
        #expect(control.opened(TransferID(rawValue: 8)) == .none)
        #expect(control.id == id)
    }
}
