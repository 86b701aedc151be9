import Errand
import Foundation
import Testing

@testable import ErrandClient

@Suite struct RequestStatesDocumentTests {
    private typealias Document = RequestStatesDocument

    @Test func theDocumentIsWhatTheMachineDoes() throws {
        let text = try Document().text()
        if ProcessInfo.processInfo.environment["ERRAND_WRITE_DOCS"] == "1" {
            try SourceTree.write(text, to: Document.path)
        }
        let written = try SourceTree.text(Document.path).components(separatedBy: "\n")
        for (line, (found, expected)) in zip(written, text.components(separatedBy: "\n")).enumerated() {
            #expect(found == expected, "\(Document.path):\(line + 1)")
        }
        #expect(written.count == text.components(separatedBy: "\n").count)
    }

    @Test func everyStateAndEventIsInIt() throws {
        let states = try Document.declaredStates().map(\.name)
        #expect(states.contains("idle") && states.contains("finished"))
        #expect(Set(states) == Set(Document.states.map { Document.word($0) }))
        let events = try Document.declaredEvents().map(\.name)
        #expect(events.contains("startRequested") && events.contains("notified"))
        #expect(Set(events) == Set(Document.events.map(\.name)))
    }

    /// What the document calls a trap is one; the rest was fed to the machine when the text was made.
    @Test func impossibleCellsTrap() async {
        for event in Document.events.indices {
            for state in Document.states.indices
            where !Document.events[event].isPossible(Document.states[state]) {
                await #expect(processExitsWith: .failure) { [event = event as Int, state = state as Int] in
                    var machine = RequestStateMachine(RequestStatesDocument.states[state])
                    _ = RequestStatesDocument.events[event].feed(&machine)
                }
            }
        }
    }
}
