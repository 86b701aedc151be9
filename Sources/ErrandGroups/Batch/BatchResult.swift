/// The results of a batch's children, in the order in which the children were given.
public struct BatchResult<Element: Sendable>: Sendable {
    /// One result for each child. A child that was no longer needed, started or not, has ``ErrandError/cancelled``.
    public let results: [Result<Element, ErrandError>]

    /// The values of the children that succeeded, in order.
    public var values: [Element] { results.compactMap { try? $0.get() } }

    /// The errors of the children that did not succeed, by number, from 0; these include children that were not needed.
    public var failures: [(index: Int, error: ErrandError)] {
        results.enumerated().compactMap { index, result in
            guard case .failure(let error) = result else { return nil }
            return (index, error)
        }
    }
}

extension Request where C: BatchCommand {
    /// The result of each child of the present or last run, in order; `nil` for a child that has not ended or was not
    /// needed. Any thread.
    public var results: [Result<C.Element, ErrandError>?] {
        (group as? BatchCarrier<C.Element>)?.typedResults ?? []
    }
}

/// A ``Batch`` with any element type.
public protocol BatchCommand: Command where Response == BatchResult<Element> {
    /// The value of each child.
    associatedtype Element: Sendable
}

extension Batch: BatchCommand {}
