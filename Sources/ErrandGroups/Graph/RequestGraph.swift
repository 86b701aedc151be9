/// Runs commands that depend on each other's results, as one command. Members that do not depend on each other run at
/// the same time.
///
/// ```swift
/// let results = try await client.run(
///     RequestGraph([
///         .init("user", GetUser(id: 1)),
///         .init("prices", ListPrices()),
///         .init("cart", after: ["user", "prices"]) { results in
///             GetCart(of: try results.value(named: "user", as: User.self).id)
///         },
///     ]))
/// ```
///
/// The graph fails before anything is sent if two members share a name or a member needs a name that does not exist
/// (``ErrandError/invalidArgument``), or if members need each other in a circle (``ErrandError/dependencyCycle``). The
/// failure of a member fails the graph with ``ErrandError/groupFailed``. As with ``Batch``, the request of a graph has
/// neither URL nor response, and a graph may be a child of another group. A graph without members succeeds at once.
public struct RequestGraph: Command {
    /// The results of the members. A graph that succeeded has the results of all members, because the failure of a
    /// member fails the graph.
    public typealias Response = GroupResults

    /// A member of a graph.
    public struct Member: Sendable {
        let name: String
        let needs: [String]
        let make: @Sendable (Client, GroupResults) throws -> ChainStep.Made

        /// A member that runs after the members in `needs`, if any, have succeeded, but does not use their results.
        public init(_ name: String, after needs: [String] = [], _ command: some Command) {
            self.init(name, after: needs) { _ in command }
        }

        /// A member whose command is made from the results of the members in `needs`, on the thread that starts the
        /// member. An error that `make` throws is the member's failure: an ``ErrandError`` unchanged, any other error
        /// wrapped in ``ErrandError/interceptionFailed``.
        public init<C: Command>(
            _ name: String, after needs: [String], _ make: @escaping @Sendable (GroupResults) throws -> C
        ) {
            self.name = name
            self.needs = needs
            self.make = { client, results in ChainStep.Made(client.request(try make(results))) }
        }
    }

    /// Empty: a graph sends no request itself.
    public var path: String { "" }
    /// `total` bounds the whole graph. Default: none; the client's total time applies to each member instead. The
    /// other members of the value have no effect here.
    public var timeouts: Timeouts?
    /// The number of members that run at a time. Above zero. Default: 64.
    public var maxConcurrent: Int
    /// Whether members that do not need the result of a failed member still run. The graph fails in either case, once
    /// no member is left to run. Default: no, the first failure stops the other members.
    public var continuesAfterFailures = false

    let members: [Member]

    /// A graph of these members. If the dependencies leave a choice, members start in this order.
    public init(_ members: [Member], maxConcurrent: Int = 64) {
        self.members = members
        self.maxConcurrent = maxConcurrent
    }

    /// Not called: the value comes from the members.
    public func decode(_ response: ErrandModel.Response) throws -> GroupResults {
        throw ErrandError.internalFailure
    }

    /// Runs the members.
    public var coordinator: GroupCoordinator { GroupCoordinator(carrier: GraphCarrier(self)) }
}
