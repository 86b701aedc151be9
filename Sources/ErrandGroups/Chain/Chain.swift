/// Runs commands one after another, as one command. Each command may be made from the results of earlier steps, and
/// each step may decide how the chain continues.
///
/// ```swift
/// let orders = try await client.run(
///     Chain(Login(user: "ada"))
///         .then { token in GetProfile(token: token) }
///         .then { profile in ListOrders(of: profile.id) })
/// ```
///
/// `Value` is the value of the last step, or ``GroupResults`` for a chain whose steps are decided at run time. A chain
/// is a command itself: it is started, stopped, watched and awaited like any other command, and may be a child of
/// another group. Its request has neither URL nor response. Interceptors, response checks and all settings except the
/// total time apply to the steps. The steps take them from the client and not from the chain. A step that is stopped
/// from outside counts as failed with ``ErrandError/cancelled``. A chain without steps succeeds at once.
///
/// Fails with ``ErrandError/groupFailed`` if a step fails and its ``ChainRecovery`` is to abort, and with
/// ``ErrandError/timeoutTotal`` when the chain's time is up.
///
/// (YTKNetwork `YTKChainRequest`.)
public struct Chain<Value: Sendable>: Command {
    /// The value of the chain.
    public typealias Response = Value

    /// Empty: a chain sends no request itself.
    public var path: String { "" }
    /// `total` bounds the whole chain, including the waits between two tries. Default: none; the client's total
    /// time applies to each step instead. The other members have no effect here.
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

    /// A chain of these steps and of the steps that they add. Its value holds the results of all steps.
    public init(_ steps: [ChainStep]) where Value == GroupResults {
        self.init(steps: steps) { $0 }
    }

    /// A chain that begins with this command; ``then(name:_:onFailure:)`` adds steps. `onFailure` is the same as in
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

    /// Returns this chain with one more step. `make` receives the value of the previous step and is called on the
    /// thread that starts the new step; see ``ChainStep``. An error that `make` throws is the step's failure. If the
    /// previous step was skipped, or replaced by a step of another type, there is no value for `make`, and the new step
    /// fails with ``ErrandError/invalidArgument``.
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
    public var coordinator: GroupCoordinator { GroupCoordinator(carrier: ChainCarrier(self)) }
}
