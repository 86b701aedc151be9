import Errand
import ErrandTesting
import Foundation
import Testing

@testable import ErrandModel
@testable import ErrandResilience

private typealias Machine = AltServiceCallMachine

/// ``AltServiceCallMachine`` by its table, which docs/limits-and-endpoints.md shows, and by random walks.
@Suite struct AltServiceCallMachineTests {
    private static let path = "docs/limits-and-endpoints.md"

    private enum Event: Sendable {
        case opened(Machine.Place), refused(isUnusable: Bool), head(mayBeLeft: Bool), ended(Machine.Ending)
        case cancelled, paused, resumed, granted, performed
    }

    /// The alternative's attempt has the id 1, the origin's the id 2.
    private static func id(_ place: Machine.Place) -> TransferID {
        TransferID(rawValue: place == .alternative ? 1 : 2)
    }

    private static func take(_ event: Event, _ machine: inout Machine) -> Machine.Action {
        switch event {
        case .opened(let place): machine.attemptOpened(id(place), at: place)
        case .refused(let isUnusable): machine.attemptRefused(isUnusable: isUnusable)
        case .head(let mayBeLeft): machine.headReceived(mayBeLeft: mayBeLeft)
        case .ended(let ending): machine.attemptEnded(ending)
        case .cancelled: machine.cancelRequested()
        case .paused: machine.pauseRequested()
        case .resumed: machine.resumeRequested()
        case .granted: machine.creditGranted(5)
        case .performed: machine.orderPerformed(.pause(id(machine.place ?? .origin)))
        }
    }

    private static func machine(_ events: [Event]) -> Machine {
        var machine = Machine()
        for event in events { _ = take(event, &machine) }
        return machine
    }

    private static let left: [Event] = [.opened(.alternative), .ended(.left)]

    /// The columns of the table, and how to come to each state.
    private static let states: [(name: String, events: [Event])] = [
        ("submitted to the alternative", []),
        ("at the alternative", [.opened(.alternative)]),
        ("cancelled there", [.opened(.alternative), .cancelled]),
        ("submitted to the origin", left),
        ("at the origin", left + [.opened(.origin)]),
        ("over", [.opened(.alternative), .ended(.stands)]),
    ]

    private static let rows: [(name: String, event: Event)] = [
        ("`attemptOpened` at the alternative", .opened(.alternative)),
        ("`attemptOpened` at the origin", .opened(.origin)),
        ("`attemptRefused`, unusable by the engine", .refused(isUnusable: true)),
        ("`attemptRefused`, otherwise", .refused(isUnusable: false)),
        ("`headReceived`, 421 of a buffered response", .head(mayBeLeft: true)),
        ("`headReceived`, otherwise", .head(mayBeLeft: false)),
        ("`attemptEnded`, `left`", .ended(.left)),
        ("`attemptEnded`, `failed`", .ended(.failed)),
        ("`attemptEnded`, `stands`", .ended(.stands)),
        ("`cancelRequested`", .cancelled),
        ("`pauseRequested`", .paused),
        ("`resumeRequested`", .resumed),
        ("`creditGranted`", .granted),
        ("`orderPerformed`, a pause that is not wanted any more", .performed),
    ]

    private static func text(_ action: Machine.Action, isChanged: Bool) -> String {
        switch action {
        case .none: isChanged ? "noted" : "-"
        case .pass: "hand over"
        case .open: "grant, then the order"
        case .order(.none): "an order of nothing"
        case .order(.cancel): "cancel"
        case .order(.pause): "pause"
        case .order(.resume): "resume"
        case .grant: "grant"
        case .sendToOrigin: "leave out, send to the origin"
        case .end(leavesOut: true): "leave out, end"
        case .end(leavesOut: false): "end"
        case .refuse: "refuse"
        }
    }

    private static var table: [String] {
        var lines = [
            "| event | " + states.map(\.name).joined(separator: " | ") + " |",
            "|" + String(repeating: "---|", count: states.count + 1),
        ]
        for row in rows {
            let cells = states.map { state in
                var machine = Self.machine(state.events)
                let former = machine.state
                let action = take(row.event, &machine)
                return text(action, isChanged: machine.state != former)
            }
            lines.append("| \(row.name) | " + cells.joined(separator: " | ") + " |")
        }
        return lines
    }

    /// Every event in every state.
    @Test func theTableIsThatOfTheDocument() throws {
        var lines = try SourceTree.text(Self.path).components(separatedBy: "\n")
        let start = try #require(lines.firstIndex { $0.hasPrefix("| event | submitted to the alternative |") })
        let end = try #require(lines[start...].firstIndex { !$0.hasPrefix("|") })
        if ProcessInfo.processInfo.environment["ERRAND_WRITE_DOCS"] == "1" {
            lines.replaceSubrange(start..<end, with: Self.table)
            return try SourceTree.write(lines.joined(separator: "\n"), to: Self.path)
        }
        #expect(Array(lines[start..<end]) == Self.table)
    }

    /// What the table does not show: the order and the credit that came before the id.
    @Test func whatWasAskedForBeforeTheIDIsKnown() {
        var machine = Self.machine([.paused, .granted, .granted])
        let first = Self.id(.alternative)
        #expect(machine.attemptOpened(first, at: .alternative) == .open(first, credit: 10, .pause(first)))
        #expect(machine.creditGranted(3) == .grant(first, bytes: 3))
        #expect(machine.creditGranted(0) == .none)
        #expect(machine.creditGranted(-1) == .none)
        // The next attempt is paused too.
        #expect(machine.attemptEnded(.left) == .sendToOrigin)
        let second = Self.id(.origin)
        #expect(machine.attemptOpened(second, at: .origin) == .order(.pause(second)))

        var cancelled = Self.machine([.cancelled])
        #expect(cancelled.attemptOpened(first, at: .alternative) == .order(.cancel(first)))
        #expect(cancelled.attemptEnded(.left) == .end(leavesOut: true))
        // Nobody wants the other attempt either.
        var refused = Self.machine([.cancelled])
        #expect(refused.attemptRefused(isUnusable: true) == .refuse)
        #expect(refused.state == .over)
        var greedy = Machine()
        #expect(greedy.creditGranted(.max) == .none)
        #expect(greedy.creditGranted(.max) == .none)
        #expect(greedy.attemptOpened(first, at: .alternative) == .open(first, credit: .max, .none))
        // Credit that the first attempt was not given is the second one's.
        var early = Self.machine([.granted, .ended(.left)])
        #expect(early.attemptOpened(first, at: .alternative) == .none)
        #expect(early.attemptOpened(second, at: .origin) == .open(second, credit: 5, .none))
    }

    // MARK: Random walks

    /// The transport beneath, as the orders of a machine change it.
    private struct Beneath {
        var open: (id: TransferID, place: Machine.Place, isPaused: Bool, isCancelled: Bool)?
        /// The attempt whose `submit` has not returned yet.
        var submitted: Machine.Place?
        var attempts = 0
        var credit = 0
        var ends = 0
        var leavesOut = 0

        var isOver: Bool { ends > 0 }

        mutating func act(_ first: Machine.Action, _ machine: inout Machine, after steps: [String]) {
            var action = first
            while true {
                switch action {
                case .none, .pass: return
                case .open(let id, let bytes, let order):
                    #expect(id == open?.id && bytes > 0, "\(steps)")
                    credit += bytes
                    action = .order(order)
                case .grant(let id, let bytes):
                    #expect(id == open?.id && bytes > 0, "\(steps)")
                    credit += bytes
                    return
                case .order(let order):
                    perform(order, after: steps)
                    action = machine.orderPerformed(order)
                case .sendToOrigin:
                    #expect(attempts == 1 && !isOver && machine.place == .origin, "\(steps)")
                    leavesOut += 1
                    submitted = .origin
                    attempts += 1
                    return
                case .end(let leaves):
                    #expect(!isOver && machine.state == .over, "\(steps)")
                    leavesOut += leaves ? 1 : 0
                    ends += 1
                    return
                case .refuse:
                    #expect(!isOver && machine.state == .over && open == nil, "\(steps)")
                    ends += 1
                    return
                }
            }
        }

        private mutating func perform(_ order: TransferControl.Order, after steps: [String]) {
            switch order {
            case .none: break
            case .cancel(let id):
                #expect(id == open?.id && open?.isCancelled == false, "\(steps)")
                open?.isCancelled = true
            case .pause(let id):
                #expect(id == open?.id, "\(steps)")
                open?.isPaused = true
            case .resume(let id):
                #expect(id == open?.id, "\(steps)")
                open?.isPaused = false
            }
        }
    }

    /// Two attempts at most, one end, no second attempt of a cancelled transfer, orders and credit for the attempt that is
    /// open alone, a cancellation that reaches it, and the pause that was asked for last.
    @Test(arguments: 0..<20 as Range<UInt64>)
    func randomWalks(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var places: [Machine.Place: Int] = [:]
        for _ in 0..<500 {
            var machine = Machine()
            var beneath = Beneath(submitted: .alternative, attempts: 1)
            var (isPaused, isCancelled) = (false, false)
            var granted = 0
            var steps = ["seed \(seed)"]
            for _ in 0..<30 {
                let step = Int.random(in: 0..<10, using: &random)
                steps.append("\(step)")
                let wasOver = beneath.isOver
                switch step {
                case 0, 1:
                    guard let place = beneath.submitted else { break }
                    beneath.submitted = nil
                    beneath.open = (Self.id(place), place, false, false)
                    places[place, default: 0] += 1
                    beneath.act(machine.attemptOpened(Self.id(place), at: place), &machine, after: steps)
                case 2:
                    guard beneath.submitted != nil else { break }
                    beneath.submitted = nil
                    let isUnusable = Bool.random(using: &random)
                    beneath.act(machine.attemptRefused(isUnusable: isUnusable), &machine, after: steps)
                case 3, 4:
                    guard beneath.open != nil, let ending = Machine.Ending.allCases.randomElement(using: &random)
                    else { break }
                    beneath.open = nil
                    let action = machine.attemptEnded(ending)
                    #expect(action != .sendToOrigin || !isCancelled, "\(steps)")
                    beneath.act(action, &machine, after: steps)
                case 5:
                    isCancelled = isCancelled || Int.random(in: 0..<4, using: &random) == 0
                    if isCancelled { beneath.act(machine.cancelRequested(), &machine, after: steps) }
                case 6:
                    isPaused = true
                    beneath.act(machine.pauseRequested(), &machine, after: steps)
                case 7:
                    isPaused = false
                    beneath.act(machine.resumeRequested(), &machine, after: steps)
                case 8:
                    granted += wasOver ? 0 : 1
                    beneath.act(machine.creditGranted(1), &machine, after: steps)
                default:
                    let action = machine.headReceived(mayBeLeft: true)
                    let isHandedOver = machine.place == .origin
                    #expect(action == (isHandedOver ? .pass : .none), "\(steps)")
                }
                // Nothing changes after the end.
                #expect(!wasOver || beneath.ends == 1 && machine.state == .over, "\(steps)")
                if let open = beneath.open {
                    #expect(open.isCancelled == isCancelled, "\(steps)")
                    // A transfer that is cancelled keeps the pause that it had.
                    #expect(isCancelled || open.isPaused == isPaused, "\(steps)")
                    #expect(beneath.credit == granted, "\(steps)")
                }
                #expect(beneath.isOver == (beneath.open == nil && beneath.submitted == nil), "\(steps)")
            }
            #expect(beneath.attempts <= 2 && beneath.leavesOut <= 1 && beneath.ends <= 1, "\(steps)")
        }
        #expect((places[.alternative] ?? 0) > 100 && (places[.origin] ?? 0) > 20, "seed \(seed): \(places)")
    }
}
