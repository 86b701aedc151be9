/// Runs many commands as one: the request of a batch runs a bounded number of children at a time and ends when all
/// children have ended.
///
/// ```swift
/// let users = try await client.run(Batch([1, 2, 3].map(GetUser.init)))
/// for user in users.values { print(user.name) }
/// ```
///
/// `Element` is the value of each child; batches of different commands use `any Sendable`. A batch is a command itself:
/// it is started, stopped, watched and awaited like any other command, and may be a child of another group. Its request
/// has neither URL nor response. Interceptors, response checks and all settings except the total time apply to the
/// children. The children take them from the client and not from the batch. A child that is stopped from outside counts
/// as failed with ``ErrandError/cancelled``. A batch without children succeeds at once.
///
/// Fails with ``ErrandError/groupFailed`` as ``policy`` says, and with ``ErrandError/timeoutTotal`` when its time is
/// up. If ``maxConcurrent`` is not above zero or the quorum is impossible, the batch fails with
/// ``ErrandError/invalidArgument`` before anything is sent.
///
/// The first children are made and started on the thread that starts the batch, later ones on the callback queue.
///
/// (YTKNetwork `YTKBatchRequest`, `initWithRequestArray:`.)
public struct Batch<Element: Sendable>: Command {
    /// The value of a batch: the results of its children.
    public typealias Response = BatchResult<Element>

    /// Empty: a batch sends no request itself.
    public var path: String { "" }
    /// What the failure of a child means for the other children. Default: ``BatchPolicy/failFast``.
    public var policy: BatchPolicy
    /// The number of children that run at a time. The request of a command is made only when the child starts. Above
    /// zero. Default: 64. If a child is a group, its own children do not count here.
    public var maxConcurrent: Int
    /// `total` bounds the whole batch, from its start to the end of the last child. Default: none; the client's total
    /// time applies to each child instead. The other members have no effect here.
    public var timeouts: Timeouts?

    let members: Members

    /// Receives the result of a child.
    typealias Keep = @Sendable (Result<Element, ErrandError>) -> Void

    /// The children by number, made when they are started.
    struct Members: Sendable {
        let count: Int
        /// The type of a child's command.
        let type: @Sendable (Int) -> any Command.Type
        let make: @Sendable (Int, Client, @escaping Keep) -> GroupChild
    }

    /// A batch of these commands. The client that runs the batch makes their requests.
    public init<C: Command>(
        _ commands: [C], policy: BatchPolicy = .failFast, maxConcurrent: Int = 64
    ) where C.Response == Element {
        self.init(count: commands.count, policy, maxConcurrent, type: { _ in C.self }) { index, client, keep in
            GroupChild(client.request(commands[index]), keep: keep)
        }
    }

    /// A batch of `count` commands. `command` makes the command with a number, from 0, when its turn comes, on the
    /// thread that starts the child. Use it for large batches, such as a hundred thousand children, that should not be
    /// in memory at once.
    public init<C: Command>(
        count: Int, policy: BatchPolicy = .failFast, maxConcurrent: Int = 64,
        command: @escaping @Sendable (Int) -> C
    ) where C.Response == Element {
        self.init(count: count, policy, maxConcurrent, type: { _ in C.self }) { index, client, keep in
            GroupChild(client.request(command(index)), keep: keep)
        }
    }

    /// A batch of these requests, which keep their delegates, accessories and closures
    /// (``Request/whenDone(completion:success:failure:)``). A request that already runs counts as a child that failed
    /// with ``ErrandError/invalidArgument``; a request that has ended runs again. The requests may belong to another
    /// client.
    public init<C: Command>(
        requests: [Request<C>], policy: BatchPolicy = .failFast, maxConcurrent: Int = 64
    ) where C.Response == Element {
        self.init(count: requests.count, policy, maxConcurrent, type: { _ in C.self }) { index, _, keep in
            GroupChild(requests[index], keep: keep)
        }
    }

    /// A batch of different commands; its values have to be cast. ``Client/run(_:_:_:)`` keeps the types of a few
    /// commands.
    public init(
        _ members: [BatchMember], policy: BatchPolicy = .failFast, maxConcurrent: Int = 64
    ) where Element == any Sendable {
        self.init(count: members.count, policy, maxConcurrent, type: { members[$0].type }) { index, client, keep in
            members[index].make(client, keep)
        }
    }

    private init(
        count: Int, _ policy: BatchPolicy, _ maxConcurrent: Int, type: @escaping @Sendable (Int) -> any Command.Type,
        make: @escaping @Sendable (Int, Client, @escaping Keep) -> GroupChild
    ) {
        self.policy = policy
        self.maxConcurrent = maxConcurrent
        members = Members(count: count, type: type, make: make)
    }

    /// Not called: the value comes from the children.
    public func decode(_ response: ErrandModel.Response) throws -> BatchResult<Element> {
        throw ErrandError.internalFailure
    }

    /// Runs the children.
    public var coordinator: GroupCoordinator { GroupCoordinator(carrier: BatchCarrier(self)) }
}

/// A child of a batch of different types: a command, a request or another group.
public struct BatchMember: Sendable {
    let type: any Command.Type
    let make: @Sendable (Client, @escaping Batch<any Sendable>.Keep) -> GroupChild

    /// A command, which may be a ``Batch``, a ``Chain`` or a ``RequestGraph``. The client that runs the batch makes its
    /// request.
    public init<C: Command>(_ command: C) {
        type = C.self
        make = { client, keep in GroupChild(client.request(command)) { keep($0.map { $0 }) } }
    }

    /// A request that is not running when its turn comes. A running request counts as a child that failed with
    /// ``ErrandError/invalidArgument``. The request keeps its delegate, its accessories and its closures
    /// (``Request/whenDone(completion:success:failure:)``).
    public init<C: Command>(_ request: Request<C>) {
        type = C.self
        make = { _, keep in GroupChild(request) { keep($0.map { $0 }) } }
    }
}

/// What the failure of a child means for its batch.
public enum BatchPolicy: Sendable, Hashable {
    /// The first failure stops the other children and fails the batch with ``ErrandError/groupFailed`` (YTKNetwork
    /// `YTKBatchRequest`).
    case failFast
    /// Every child runs to its end. The batch succeeds even if children fail, and each result says how its child
    /// ended.
    case collectAll
    /// The batch succeeds after this number of successes and stops the other children. It fails as soon as the number
    /// can no longer be reached. A quorum of 0 is reached before any child is made. A number below 0 or above the
    /// number of children is ``ErrandError/invalidArgument`` before anything is sent.
    case quorum(Int)
}
