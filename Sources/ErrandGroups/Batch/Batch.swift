/// Many commands as one: a command whose request runs its children, so many at a time, and ends when they have.
///
/// ```swift
/// let users = try await client.run(Batch([1, 2, 3].map(GetUser.init)))
/// for user in users.values { print(user.name) }
/// ```
///
/// `Element` is the children's value; batches of different commands have `any Sendable` for it. Since a batch is a
/// command itself, it is started, stopped, watched and awaited as any other, and may be a child of another group. Its
/// request has neither URL nor response; interceptors, what judges responses, and settings other than the total time
/// are its children's, which take them from the client and not from the batch. A child that is stopped from outside has
/// failed with ``ErrandError/cancelled``, as far as the batch is concerned. Without children it succeeds at once.
///
/// Fails with ``ErrandError/groupFailed`` as ``policy`` says, with ``ErrandError/timeoutTotal`` when its time is up,
/// and, before anything is sent, with ``ErrandError/invalidArgument`` where ``maxConcurrent`` is not above zero or a
/// quorum cannot be.
///
/// Children are made and started on the thread that starts the batch, later ones on the callback queue.
///
/// (YTKNetwork `YTKBatchRequest`, `initWithRequestArray:`.)
public struct Batch<Element: Sendable>: Command {
    /// What a batch makes of its children.
    public typealias Response = BatchResult<Element>

    /// None: a batch goes nowhere itself.
    public var path: String { "" }
    /// What a failure means for the rest. Default: ``BatchPolicy/failFast``.
    public var policy: BatchPolicy
    /// So many children run at a time; those of commands are not even made before. Above zero. Default: 64. What runs
    /// in a child that is a group itself does not count here.
    public var maxConcurrent: Int
    /// `total` bounds the whole batch, from its start to the end of the last child. Default: none, whatever the
    /// client's is, as that is each child's. The other members say nothing here.
    public var timeouts: Timeouts?

    let members: Members

    /// What a child ended with.
    typealias Keep = @Sendable (Result<Element, ErrandError>) -> Void

    /// Children by number, made as they are started.
    struct Members: Sendable {
        let count: Int
        let make: @Sendable (Int, Client, @escaping Keep) -> GroupChild
    }

    /// A batch of these commands, whose requests are made by the client that runs the batch.
    public init<C: Command>(
        _ commands: [C], policy: BatchPolicy = .failFast, maxConcurrent: Int = 64
    ) where C.Response == Element {
        self.init(count: commands.count, policy, maxConcurrent) { index, client, keep in
            GroupChild(client.request(commands[index]), keep: keep)
        }
    }

    /// A batch of so many commands, each made when its turn has come, from 0, on the thread that starts it: what a hundred
    /// thousand children need that are not to be in memory at once.
    public init<C: Command>(
        count: Int, policy: BatchPolicy = .failFast, maxConcurrent: Int = 64,
        command: @escaping @Sendable (Int) -> C
    ) where C.Response == Element {
        self.init(count: count, policy, maxConcurrent) { index, client, keep in
            GroupChild(client.request(command(index)), keep: keep)
        }
    }

    /// A batch of these requests, which keep their delegates, accessories and closures
    /// (``Request/whenDone(completion:success:failure:)``). One that runs already fails its place with
    /// ``ErrandError/invalidArgument``; one that has ended runs again. They may be of another client.
    public init<C: Command>(
        requests: [Request<C>], policy: BatchPolicy = .failFast, maxConcurrent: Int = 64
    ) where C.Response == Element {
        self.init(count: requests.count, policy, maxConcurrent) { index, _, keep in
            GroupChild(requests[index], keep: keep)
        }
    }

    /// A batch of any mix; its values are to be cast. ``Client/run(_:_:_:)`` keeps the types of a few.
    public init(
        _ members: [BatchMember], policy: BatchPolicy = .failFast, maxConcurrent: Int = 64
    ) where Element == any Sendable {
        self.init(count: members.count, policy, maxConcurrent) { index, client, keep in
            members[index].make(client, keep)
        }
    }

    private init(
        count: Int, _ policy: BatchPolicy, _ maxConcurrent: Int,
        make: @escaping @Sendable (Int, Client, @escaping Keep) -> GroupChild
    ) {
        self.policy = policy
        self.maxConcurrent = maxConcurrent
        members = Members(count: count, make: make)
    }

    /// Not called: the value comes from the children.
    public func decode(_ response: ErrandModel.Response) throws -> BatchResult<Element> {
        throw ErrandError.internalFailure
    }

    /// Runs the children.
    public var coordinator: GroupCoordinator? { GroupCoordinator(carrier: BatchCarrier(self)) }
}
