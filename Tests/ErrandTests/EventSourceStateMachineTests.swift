import Errand
import ErrandTesting
import Testing

@testable import ErrandEvents
@testable import ErrandModel

@Suite struct EventSourceStateMachineTests {
    private typealias Action = EventSourceStateMachine.Action
    private static let lost = ErrandError.connectionLost

    private enum Event: CaseIterable {
        case start, accept, refuseStatus, refuseType, noContent, unavailable, advance, end, lose, break_, fire, close
    }

    private func tell(_ event: Event, _ machine: inout EventSourceStateMachine) -> Action {
        switch event {
        case .start: return machine.started()
        case .accept: return machine.responseReceived(statusCode: 200, contentType: "text/event-stream", random: 0)
        case .refuseStatus:
            return machine.responseReceived(statusCode: 404, contentType: "text/event-stream", random: 0)
        case .refuseType: return machine.responseReceived(statusCode: 200, contentType: "text/html", random: 0)
        case .noContent: return machine.responseReceived(statusCode: 204, contentType: nil, random: 0)
        case .unavailable: return machine.responseReceived(statusCode: 503, contentType: nil, random: 0)
        case .advance:
            machine.streamAdvanced(lastEventID: "7", reconnectionTime: .seconds(1))
            return .none
        case .end: return machine.ended(random: 0)
        case .lose: return machine.failed(Self.lost, isRetryable: true, random: 0)
        case .break_: return machine.failed(.tlsUntrusted, isRetryable: false, random: 0)
        case .fire: return machine.reconnectTimerFired()
        case .close: return machine.closed()
        }
    }

    private static let second3 = Action.wait(.seconds(3))

    /// Every state x event cell: what leads to the state, and the events that do something there.
    @Test func everyCellIsDecided() {
        let connect = Action.connect(lastEventID: nil)
        let table: [(path: [Event], answers: [Event: Action])] = [
            ([], [.start: connect]),
            (
                [.start],
                [
                    .accept: .read, .refuseStatus: .fail(.statusNotAccepted),
                    .refuseType: .fail(.contentTypeNotAccepted),
                    .noContent: .finish, .unavailable: Self.second3, .lose: Self.second3, .break_: .fail(.tlsUntrusted),
                    .close: .cancelTransfer,
                ]
            ),
            (
                [.start, .accept],
                [.end: Self.second3, .lose: Self.second3, .break_: .fail(.tlsUntrusted), .close: .cancelTransfer]
            ),
            ([.start, .lose], [.fire: connect, .close: .cancelTimer]),
            ([.start, .accept, .end], [.fire: connect, .close: .cancelTimer]),
            ([.start, .unavailable], [.fire: connect, .close: .cancelTimer]),
            ([.close], [:]), ([.start, .close], [:]), ([.start, .refuseStatus], [:]), ([.start, .noContent], [:]),
            ([.start, .refuseType], [:]), ([.start, .accept, .break_], [:]), ([.start, .lose, .close], [:]),
        ]
        for (path, answers) in table {
            for event in Event.allCases {
                var machine = EventSourceStateMachine(policy: EventSourcePolicy())
                for step in path { _ = tell(step, &machine) }
                #expect(tell(event, &machine) == answers[event] ?? .none, "\(path) \(event)")
            }
        }
    }

    @Test func whatTheStreamSaysIsUsed() {
        var machine = EventSourceStateMachine(policy: EventSourcePolicy(), lastEventID: "3")
        #expect(machine.started() == .connect(lastEventID: "3"))
        // Not before the stream is open: these are words of one that was dropped.
        machine.streamAdvanced(lastEventID: "9", reconnectionTime: .seconds(9))
        _ = tell(.accept, &machine)
        machine.streamAdvanced(lastEventID: "4", reconnectionTime: nil)
        #expect(machine.ended(random: 0) == .wait(.seconds(3)))
        #expect(machine.reconnectTimerFired() == .connect(lastEventID: "4"))
        _ = tell(.accept, &machine)
        machine.streamAdvanced(lastEventID: "", reconnectionTime: .milliseconds(500))
        #expect(machine.ended(random: 0) == .wait(.milliseconds(500)))
        #expect(machine.reconnectTimerFired() == .connect(lastEventID: nil))
    }

    @Test(
        arguments: [
            (200, "text/event-stream; charset=utf-8", Action.read), (200, "TEXT/EVENT-STREAM", .read),
            (200, nil, .fail(.contentTypeNotAccepted)), (200, "text/event-streams", .fail(.contentTypeNotAccepted)),
            (200, "", .fail(.contentTypeNotAccepted)), (204, "text/event-stream", .finish),
            (201, "text/event-stream", .fail(.statusNotAccepted)), (301, nil, .fail(.statusNotAccepted)),
            (500, nil, .fail(.statusNotAccepted)), (502, nil, second3), (503, nil, second3), (504, nil, second3),
            (429, nil, second3), (0, nil, .fail(.statusNotAccepted)),
        ] as [(Int, String?, EventSourceStateMachine.Action)])
    func responses(statusCode: Int, contentType: String?, expected: EventSourceStateMachine.Action) {
        var machine = EventSourceStateMachine(policy: EventSourcePolicy())
        _ = machine.started()
        #expect(machine.responseReceived(statusCode: statusCode, contentType: contentType, random: 0) == expected)
    }

    @Test func theErrorOfAStatusNamesTheExpectedOne() {
        var machine = EventSourceStateMachine(policy: EventSourcePolicy())
        _ = machine.started()
        guard case .fail(let error) = machine.responseReceived(statusCode: 500, contentType: nil, random: 0) else {
            Issue.record("the stream did not fail")
            return
        }
        #expect(error.message == "the status is 500, expected 200")
    }

    @Test func waitsDoubleUpToALimitAndBeginAnew() {
        var machine = EventSourceStateMachine(policy: EventSourcePolicy())
        _ = machine.started()
        for seconds in [3, 6, 12, 24, 48, 60, 60, 60] {
            #expect(tell(.lose, &machine) == .wait(.seconds(seconds)))
            _ = tell(.fire, &machine)
        }
        // A head alone is no success: a server that breaks at once is not asked ever faster.
        _ = tell(.accept, &machine)
        #expect(tell(.lose, &machine) == .wait(.seconds(60)))
        _ = tell(.fire, &machine)
        _ = tell(.accept, &machine)
        machine.streamAdvanced(lastEventID: "", reconnectionTime: nil)
        #expect(tell(.lose, &machine) == .wait(.seconds(3)))
        _ = tell(.fire, &machine)
        #expect(tell(.unavailable, &machine) == .wait(.seconds(6)))
        _ = tell(.fire, &machine)
        _ = tell(.accept, &machine)
        #expect(tell(.end, &machine) == .wait(.seconds(3)))
    }

    @Test func itGivesUpWhenToldTo() {
        var policy = EventSourcePolicy()
        policy.maximumFailures = 2
        var machine = EventSourceStateMachine(policy: policy)
        _ = machine.started()
        for _ in 0..<2 {
            _ = tell(.lose, &machine)
            _ = tell(.fire, &machine)
        }
        #expect(tell(.unavailable, &machine) == .fail(.statusNotAccepted))
        #expect(tell(.fire, &machine) == .none)

        policy.maximumFailures = 0
        var impatient = EventSourceStateMachine(policy: policy)
        _ = impatient.started()
        #expect(tell(.unavailable, &impatient) == .fail(.statusNotAccepted))
    }

    @Test func delaysStayWithinTheirBounds() {
        var policy = EventSourcePolicy()
        func delay(_ base: Duration, _ failures: Int, _ server: Duration? = nil, _ random: Double = 0) -> Duration {
            policy.delay(base: base, failures: failures, leastByServer: server, random: random)
        }
        #expect(delay(.zero, 0) == .milliseconds(100))
        #expect(delay(.milliseconds(Int64.max), 1000) == .seconds(60))
        #expect(delay(.seconds(3), .max) == .seconds(60))
        #expect(delay(.seconds(3), 1, .seconds(20)) == .seconds(20))
        #expect(delay(.seconds(3), 1, .seconds(2000)) == .seconds(60))
        #expect(delay(.seconds(3), 1, .seconds(-5)) == .seconds(3))
        #expect(delay(.seconds(10), 0, nil, 1) == .seconds(8))
        #expect(delay(.seconds(10), 0, nil, 99) == .seconds(8))
        #expect((8.0...10.0).contains(delay(.seconds(10), 0, nil, 0.5) / .seconds(1)))
        policy.jitter = 5
        #expect(delay(.seconds(10), 0, nil, 1) == .milliseconds(100))
        policy.maximumDelay = .zero
        #expect(delay(.seconds(10), 5) == .milliseconds(100))
        // Clocks trap on what they cannot count to.
        policy.maximumDelay = .seconds(Int64.max)
        policy.jitter = 0
        #expect(delay(.seconds(3), .max) == .longestSleep)
        #expect(delay(.seconds(Int64.max), 0, .seconds(Int64.max)) == .longestSleep)
        policy.minimumDelay = .seconds(Int64.max)
        #expect(delay(.seconds(3), 0) == .longestSleep)
    }

    /// One connection at a time, one timer at a time, nothing after the end.
    @Test(arguments: 1...10 as ClosedRange<UInt64>)
    func randomWalks(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<500 {
            var machine = EventSourceStateMachine(policy: EventSourcePolicy())
            var (isTransferring, isWaiting, hasEnded) = (false, false, false)
            for _ in 0..<40 {
                let event = Event.allCases[Int.random(in: Event.allCases.indices, using: &generator)]
                let action = tell(event, &machine)
                if hasEnded { #expect(action == .none) }
                switch action {
                case .none: break
                case .connect:
                    #expect(!isTransferring)
                    (isTransferring, isWaiting) = (true, false)
                case .read: #expect(isTransferring)
                case .wait(let delay):
                    #expect(isTransferring && !isWaiting && delay > .zero)
                    (isTransferring, isWaiting) = (false, true)
                case .finish, .fail, .cancelTransfer:
                    #expect(isTransferring)
                    (isTransferring, hasEnded) = (false, true)
                case .cancelTimer:
                    #expect(isWaiting && !isTransferring)
                    (isWaiting, hasEnded) = (false, true)
                }
                if event == .close { hasEnded = true }
            }
        }
    }
}
