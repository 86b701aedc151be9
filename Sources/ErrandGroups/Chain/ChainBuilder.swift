/// Builds a ``Chain`` line by line. The first is a command; each other one is ``Then``, which is given the value of the
/// one before, or a command that does not ask for it.
///
/// ```swift
/// Chain {
///     Login(user: "ada")
///     Then { (token: Token) in GetProfile(token: token) }
///     Then { (profile: Profile) in ListOrders(of: profile.id) }
/// }
/// ```
///
/// A hand-over of the wrong type does not compile. There is no `if` and no `for`: see ``ChainStep`` for what is
/// decided on the way.
@resultBuilder
public enum ChainBuilder {
    /// The first step.
    public static func buildPartialBlock<C: Command>(first: C) -> Chain<C.Response> {
        Chain(first)
    }

    /// One that is made of the value before.
    public static func buildPartialBlock<Value, C: Command>(
        accumulated: Chain<Value>, next: Then<Value, C>
    ) -> Chain<C.Response> {
        accumulated.then(name: next.name, next.make, onFailure: next.onFailure)
    }

    /// One that does not ask for it.
    public static func buildPartialBlock<Value, C: Command>(accumulated: Chain<Value>, next: C) -> Chain<C.Response> {
        accumulated.then { _ in next }
    }
}

/// A step in a ``ChainBuilder``: makes its command of the value of the step before.
public struct Then<Input: Sendable, C: Command>: Sendable {
    let name: String?
    let onFailure: @Sendable (ErrandError, Int) -> ChainRecovery
    let make: @Sendable (Input) throws -> C

    /// A step whose command is made of that value, on the thread that starts it; see ``Chain/then(name:_:onFailure:)``.
    public init(
        name: String? = nil, _ make: @escaping @Sendable (Input) throws -> C,
        onFailure: @escaping @Sendable (ErrandError, Int) -> ChainRecovery = { _, _ in .abort }
    ) {
        self.name = name
        self.onFailure = onFailure
        self.make = make
    }
}
