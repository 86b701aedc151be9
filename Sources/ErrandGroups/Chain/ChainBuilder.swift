/// Builds a ``Chain`` line by line. The first line is a command. Each other line is a ``Then``, which receives the
/// value of the previous step, or a command that does not use that value.
///
/// ```swift
/// Chain {
///     Login(user: "ada")
///     Then { (token: Token) in GetProfile(token: token) }
///     Then { (profile: Profile) in ListOrders(of: profile.id) }
/// }
/// ```
///
/// Passing a value of the wrong type does not compile. There is no `if` and no `for`: see ``ChainStep`` for decisions
/// at run time.
@resultBuilder
public enum ChainBuilder {
    /// The first step.
    public static func buildPartialBlock<C: Command>(first: C) -> Chain<C.Response> {
        Chain(first)
    }

    /// A step made from the value of the previous step.
    public static func buildPartialBlock<Value, C: Command>(
        accumulated: Chain<Value>, next: Then<Value, C>
    ) -> Chain<C.Response> {
        accumulated.then(name: next.name, next.make, onFailure: next.onFailure)
    }

    /// A step that does not use the value of the previous step.
    public static func buildPartialBlock<Value, C: Command>(accumulated: Chain<Value>, next: C) -> Chain<C.Response> {
        accumulated.then { _ in next }
    }
}

/// A step in a ``ChainBuilder`` whose command is made from the value of the previous step.
public struct Then<Input: Sendable, C: Command>: Sendable {
    let name: String?
    let onFailure: @Sendable (ErrandError, Int) -> ChainRecovery
    let make: @Sendable (Input) throws -> C

    /// A step whose command is made from `Input`, on the thread that starts the step; see
    /// ``Chain/then(name:_:onFailure:)``.
    public init(
        name: String? = nil, _ make: @escaping @Sendable (Input) throws -> C,
        onFailure: @escaping @Sendable (ErrandError, Int) -> ChainRecovery = { _, _ in .abort }
    ) {
        self.name = name
        self.onFailure = onFailure
        self.make = make
    }
}
