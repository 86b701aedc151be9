/// A child of a batch of any mix: a command, a request, another group.
public struct BatchMember: Sendable {
    let make: @Sendable (Client, @escaping Batch<any Sendable>.Keep) -> GroupChild

    /// A command, which may be a ``Batch``, a ``Chain`` or a ``RequestGraph``. Its request is made by the client that
    /// runs the batch.
    public init(_ command: some Command) {
        make = { client, keep in GroupChild(client.request(command)) { keep($0.map { $0 }) } }
    }

    /// A request that does not run at that moment; otherwise its place fails with ``ErrandError/invalidArgument``. It
    /// keeps its delegate, its accessories and its closures (``Request/whenDone(completion:success:failure:)``).
    public init(_ request: Request<some Command>) {
        make = { _, keep in GroupChild(request) { keep($0.map { $0 }) } }
    }
}
