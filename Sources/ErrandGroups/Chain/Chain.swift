/// Commands one after another, as one: each may be made of what came before, and say how to go on.
///
/// ```swift
/// let orders = try await client.run(
///     Chain(Login(user: "ada"))
///         .then { token in GetProfile(token: token) }
///         .then { profile in ListOrders(of: profile.id) })
/// ```
///
/// `Value` is that of the last step; of a chain whose steps are decided on the way, ``GroupResults``. Since a chain is
/// a command itself, it is started, stopped, watched and awaited as any other, and may be a child of another group.
/// Its request has neither URL nor response; interceptors, what judges responses, and settings other than the total
/// time are its steps', which take them from the client and not from the chain. A step that is stopped from outside
/// has failed with ``ErrandError/cancelled``, as far as the chain is concerned. Without steps it succeeds at once.
///
/// Fails with ``ErrandError/groupFailed`` where a step does and its ``ChainRecovery`` is to abort, and with
/// ``ErrandError/timeoutTotal`` when its time is up.
///
/// (YTKNetwork `YTKChainRequest`.)
public struct Chain<Value: Sendable>: Command {
    /// What the chain is for.
    public typealias Response = Value

    /// None: a chain goes nowhere itself.
    public var path: String { "" }
    /// `total` bounds the whole chain, waits between two tries included. Default: none, whatever the client's is, as
    /// that is each step's. The other members say nothing here.
    public var timeouts: Timeouts?

    let steps: [ChainStep]
    let value: @Sendable (GroupResults) -> Value?

    init(steps: [ChainStep], value: @escaping @Sendable (GroupResults) -> Value?) {
        self.steps = steps
        self.value = value
    }

    private init(typed steps: [ChainStep]) {
        self.init(steps: steps) { try? $0.lastValue(as: Value.self) }
    }

    /// A chain of these steps, and of those that they add. Its value is what all of them ended with.
    public init(_ steps: [ChainStep]) where Value == GroupResults {
        self.init(steps: steps) { $0 }
    }

    /// A chain that begins with this command; ``then(name:_:onFailure:)`` adds to it. `onFailure` is that of
    /// ``ChainStep``.
    public init<C: Command>(
        _ first: C, name: String? = nil,
        onFailure: @escaping @Sendable (ErrandError, Int) -> ChainRecovery = { _, _ in .abort }
    ) where C.Response == Value {
        self.init(typed: [ChainStep(first, name: name, onFailure: onFailure)])
    }

    /// A chain built line by line; see ``ChainBuilder``.
    public init(@ChainBuilder _ steps: () -> Chain<Value>) {
        self = steps()
    }

    /// The same with one more step, made of the value of the last one on the thread that starts it; see ``ChainStep``.
    /// What `make` throws is the step's failure. A step that was skipped, or replaced by one of another type, has no
    /// value to make the next one of, and that fails with ``ErrandError/invalidArgument``.
    public func then<C: Command>(
        name: String? = nil, _ make: @escaping @Sendable (Value) throws -> C,
        onFailure: @escaping @Sendable (ErrandError, Int) -> ChainRecovery = { _, _ in .abort }
    ) -> Chain<C.Response> {
        let step = ChainStep(name: name, make: { try make(try $0.lastValue(as: Value.self)) }, onFailure: onFailure)
        var chain = Chain<C.Response>(typed: steps + [step])
        chain.timeouts = timeouts
        return chain
    }

    /// Not called: the value comes from the steps.
    public func decode(_ response: ErrandModel.Response) throws -> Value {
        throw ErrandError.internalFailure
    }

    /// Runs the steps.
    public var coordinator: GroupCoordinator? { GroupCoordinator(carrier: ChainCarrier(self)) }
}
