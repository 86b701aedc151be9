import Errand
import Foundation

@testable import ErrandClient

/// docs/request-states.md as the machine itself has it: every event fed to every state.
struct RequestStatesDocument {
    typealias Machine = RequestStateMachine
    typealias State = RequestStateMachine.State

    static let path = "docs/request-states.md"
    static let sources = SourceTree.files(in: "Sources/ErrandClient/Request", suffix: ".swift")
        .filter { $0.contains("/RequestStateMachine") }

    /// One event with sample arguments. `isPossible` is false where it traps.
    struct Event: Sendable {
        let name: String
        var note = ""
        var isPossible: @Sendable (State) -> Bool = { _ in true }
        let feed: @Sendable (inout Machine) -> String
    }

    /// A declared name and its comment's first sentence.
    struct Declared: Equatable {
        let name: String
        let comment: String
    }

    /// The cases of `enum State`, in order.
    static func declaredStates() throws -> [Declared] {
        try declared {
            $0.hasPrefix("case ") ? String($0.dropFirst(5)) : nil
        } within: {
            $0.hasPrefix("enum State") || $0.hasPrefix("indirect enum State")
        }
    }

    /// The machine's methods that others call, in order, each once.
    static func declaredEvents() throws -> [Declared] {
        let functions = try declared {
            $0.hasPrefix("mutating func ")
                ? String($0.dropFirst(14)) : $0.hasPrefix("func ") ? String($0.dropFirst(5)) : nil
        } within: {
            $0.hasPrefix("struct RequestStateMachine") || $0.hasPrefix("extension RequestStateMachine")
        }
        return functions.enumerated().filter { item in
            functions.firstIndex { $0.name == item.element.name } == item.offset
        }.map(\.element)
    }

    /// Declarations directly inside of the blocks that `opens` finds.
    private static func declared(
        _ name: (String) -> String?, within opens: (String) -> Bool
    ) throws -> [Declared] {
        var result: [Declared] = []
        for path in sources {
            var depth: Int?
            var comment: [String] = []
            for line in try SourceTree.text(path).components(separatedBy: "\n") {
                let indent = line.prefix { $0 == " " }.count
                let words = line.trimmingCharacters(in: .whitespaces)
                let code = words.hasPrefix("package ") ? String(words.dropFirst(8)) : words
                if let open = depth, code == "}", indent == open { depth = nil }
                if code.hasPrefix("///") {
                    comment.append(code.dropFirst(3).trimmingCharacters(in: .whitespaces))
                } else {
                    if let open = depth, indent == open + 4, let found = name(code) {
                        let word = found.prefix { $0.isLetter || $0.isNumber || $0 == "_" }
                        result.append(Declared(name: String(word), comment: comment.joined(separator: " ")))
                    }
                    if depth == nil, opens(code) { depth = indent }
                    comment = []
                }
            }
        }
        return result
    }

    // MARK: Words

    /// `inFlight`, with what is special about the value.
    static func words(_ state: State) -> String {
        let text = String(describing: state)
        var marks: [String] = []
        if case .notifying(_, let outcome, _) = state { marks.append(word(outcome)) }
        if case .finished(_, let outcome) = state { marks.append(word(outcome)) }
        if text.contains("isSilenced: true") { marks.append("silenced") }
        if text.contains("Next(") { marks.append("start requested") }
        if text.contains("isStopped: true") { marks.append("stop requested") }
        if text.contains("isPaused: true") { marks.append("paused") }
        return word(state) + (marks.isEmpty ? "" : " (\(marks.joined(separator: ", ")))")
    }

    /// The case's name alone.
    static func word(_ value: Any) -> String {
        String(String(describing: value).prefix { $0 != "(" }.split(separator: ".").last ?? "")
    }

    /// An action without the module's names and the sample's numbers.
    static func action(_ value: Any) -> String {
        var text = String(describing: value)
        for (long, short) in [
            ("ErrandClient.RequestStateMachine.", ""), ("ErrandClient.", ""), ("ErrandEngine.", ""),
            ("TransferID(rawValue: 9)", "id"),
            ("transfer: 3", "transfer: same"), ("transfer: 4", "transfer: next"), ("transfer: 1", "transfer: first"),
        ] {
            text = text.replacingOccurrences(of: long, with: short)
        }
        return text == "()" ? "none" : text
    }

    // MARK: Text

    func text() throws -> String {
        var lines = [
            "# The states of a request", "",
            "`RequestStatesDocumentTests` writes this page from `RequestStateMachine`, and fails if the two differ. Write",
            "it again with `ERRAND_WRITE_DOCS=1 swift test --filter RequestStatesDocument`.", "",
            "The machine is pure. The shell (`AnyRequest`) passes it an event while its lock is held, and carries out the",
            "action that the event returns after the lock is released. A **run** is the life of a request from a start to its",
            "end. It may have several **transfers**: redirects and replays. Each transfer has a number.", "",
            "## States", "", "| state | what it means |", "|---|---|",
        ]
        for state in try Self.declaredStates() { lines.append("| `\(state.name)` | \(state.comment) |") }
        lines += [
            "", "## Events", "",
            "For each event a table has the states that it changes, the action that it returns, and the next state. The",
            "last row has all states that are not listed. States have these marks:", "",
            "- *paused* by the user;",
            "- *silenced*: stopped while callbacks are being called, so the remaining closures are not called;",
            "- *start requested*: another run begins after the callbacks;",
            "- *stop requested*: that run sends nothing and ends as cancelled.", "",
        ]
        for event in Self.events {
            let comment = try Self.declaredEvents().first { $0.name == event.name }?.comment ?? ""
            lines += ["### \(event.name)\(event.note.isEmpty ? "" : ", \(event.note)")", ""]
            if !comment.isEmpty { lines += [comment, ""] }
            lines += ["| state | action | next state |", "|---|---|---|"] + rows(event) + [""]
        }
        return lines.dropLast().joined(separator: "\n") + "\n"
    }

    /// A row for each state that changes, and one for each answer of those that stay.
    private func rows(_ event: Event) -> [String] {
        var rows: [String] = []
        var resting: [(answer: String, states: [String])] = []
        var impossible: [String] = []
        for state in Self.states {
            guard event.isPossible(state) else {
                impossible.append(Self.words(state))
                continue
            }
            var machine = Machine(state)
            let answer = event.feed(&machine)
            let next = machine.state
            if next != state {
                let isNext = String(describing: next).contains("transfer: 4") ? ", next transfer" : ""
                rows.append("| \(Self.words(state)) | \(answer) | \(Self.words(next))\(isNext) |")
            } else if let index = resting.firstIndex(where: { $0.answer == answer }) {
                resting[index].states.append(Self.words(state))
            } else {
                resting.append((answer, [Self.words(state)]))
            }
        }
        // The last row is for all that the others leave: those that trap, or else the longest list.
        if impossible.isEmpty,
            let longest = resting.indices.max(by: { resting[$0].states.count < resting[$1].states.count })
        {
            let rest = resting.remove(at: longest)
            resting.append((rest.answer, ["all others"]))
        }
        rows += resting.map { "| \($0.states.joined(separator: ", ")) | \($0.answer) | unchanged |" }
        if !impossible.isEmpty { rows.append("| all others | a trap: only a bug in Errand can cause it | |") }
        return rows
    }
}
