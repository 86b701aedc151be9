/// How the children of a batch ended, in the order in which they were given.
public struct BatchResult<Element: Sendable>: Sendable {
    /// One for each child. A child that was not needed any more, started or not, has ``ErrandError/cancelled``.
    public let results: [Result<Element, ErrandError>]

    /// The values of those that succeeded, in order.
    public var values: [Element] { results.compactMap { try? $0.get() } }

    /// The errors of those that did not succeed, by number, from 0; children that were not needed are among them.
    public var failures: [(index: Int, error: ErrandError)] {
        results.enumerated().compactMap { index, result in
            guard case .failure(let error) = result else { return nil }
            return (index, error)
        }
    }
}
