/// A child of a batch of different types: a command, a request or another group.
public struct BatchMember: Sendable {
    let make: @Sendable (Client, @escaping Batch<any Sendable>.Keep) -> GroupChild

    /// A command, which may be a ``Batch``, a ``Chain`` or a ``RequestGraph``. The client that runs the batch makes its
    /// request.
    public init(_ command: some Command) {
        make = { client, keep in GroupChild(client.request(command)) { keep($0.map { $0 }) } }
    }

    /// A request that is not running when its turn comes; a running one counts as a child that failed with
    /// ``ErrandError/invalidArgument``. The request keeps its delegate, its accessories and its closures
    /// (``Request/whenDone(completion:success:failure:)``).
    public init(_ request: Request<some Command>) {
        make = { _, keep in GroupChild(request) { keep($0.map { $0 }) } }
    }
}
