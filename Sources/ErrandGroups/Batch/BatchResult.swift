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
