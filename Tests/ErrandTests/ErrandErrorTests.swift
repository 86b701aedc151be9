import CErrand
import Errand
import HTTPTypes
import Testing

@testable import ErrandEngine
@testable import ErrandModel

@Suite struct ErrandErrorTests {
    /// The numbers of every status that the core may answer with.
    private static let statuses: [Int32] = (0...255).filter {
        String(cString: errand_status_name($0)) != "UNKNOWN"
    }

    @Test func everyStatusOfTheCoreHasAKindOfItsOwn() {
        #expect(Self.statuses.count > 40)
        let kinds = Self.statuses.compactMap { ErrandError(status: $0) }
        #expect(kinds.count == Self.statuses.count - 1)
        #expect(Set(kinds).count == kinds.count)
        #expect(ErrandError(status: 0) == nil)
        #expect(ErrandError(status: 9999) == .internalFailure)
        #expect(ErrandError(status: -1) == .internalFailure)
    }

    @Test func sentencesAreTheCoresOwn() {
        for status in Self.statuses {
            guard let error = ErrandError(status: status), error != .shutDown, error != .forked else { continue }
            #expect(error.message == String(cString: errand_status_text(status)))
        }
    }

    @Test func comparesByKind() {
        let error = ErrandError.timeoutIdle.with(message: "other", response: Response(statusCode: 200))
        #expect(error == .timeoutIdle)
        #expect(error != .timeoutTotal)
        #expect(error.hashValue == ErrandError.timeoutIdle.hashValue)
        do {
            throw error
        } catch ErrandError.timeoutIdle {
        } catch {
            Issue.record("not caught by its kind")
        }
        switch error {
        case .timeoutIdle: break
        default: Issue.record("not matched by its kind")
        }
        #expect(!(ErrandError.timeoutIdle ~= CancellationError()))
    }

    @Test func saysWhatHappened() {
        let error = ErrandError.statusNotAccepted.with(message: "no", response: Response(statusCode: 404))
        #expect(error.description == "statusNotAccepted: no (status 404)")
        #expect(error.shortDescription == "statusNotAccepted")
        #expect(ErrandError.timeoutIdle.isTimeout && ErrandError.deadlineExceeded.isTimeout)
        #expect(!ErrandError.invalidURL.isTimeout)
    }

    @Test func aRefusalIsAFactNotAKind() {
        #expect(!ErrandError.shutDown.isRefusal)
        #expect(ErrandError.shutDown.refused.isRefusal)
        #expect(ErrandError.shutDown.refused.with(message: "m").isRefusal)
        #expect(ErrandError.shutDown.refused == .shutDown)
    }

    @Test func aHopThatCannotBeSentIsTheServersFault() {
        let response = Response(statusCode: 302)
        let blamed = ErrandError.invalidURL.refused.refusingHop(after: response)
        #expect(blamed == .redirectRefused)
        #expect(blamed.underlyingError as? ErrandError == .invalidURL)
        let kept = ErrandError.queueFull.refused.refusingHop(after: response)
        #expect(kept == .queueFull)
        let late = ErrandError.deadlineExceeded.refused.refusingHop(after: response)
        #expect(late == .deadlineExceeded)
        for error in [blamed, kept, late] {
            #expect(!error.isRefusal)
            #expect(error.statusCode == 302)
        }
    }
}
