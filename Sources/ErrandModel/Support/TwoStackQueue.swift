/// A queue with amortised constant time: one array is filled while the other one, reversed, is emptied.
package struct TwoStackQueue<Element> {
    package init() {}

    private var incoming: [Element] = []
    private var outgoing: [Element] = []

    package var isEmpty: Bool { incoming.isEmpty && outgoing.isEmpty }

    package mutating func append(_ element: Element) {
        incoming.append(element)
    }

    /// The oldest element; `nil` if the queue is empty.
    package mutating func popFirst() -> Element? {
        if outgoing.isEmpty {
            outgoing = incoming.reversed()
            incoming = []
        }
        return outgoing.popLast()
    }
}
