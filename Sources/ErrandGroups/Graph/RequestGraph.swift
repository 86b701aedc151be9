/// Commands that need each other's results, as one: what does not depend on each other runs at once.
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
/// Two members of one name, a name that nobody has (``ErrandError/invalidArgument``), and members that need each other
/// in a circle (``ErrandError/dependencyCycle``) fail the graph before anything is sent; a failure of a member does
/// with ``ErrandError/groupFailed``. As with ``Batch``, its request has neither URL nor response, and a graph may be a
/// child of another group. Without members it succeeds at once.
public struct RequestGraph: Command {
    /// What the members ended with. By default of all of them, as a failure fails the graph.
    public typealias Response = GroupResults

    /// A member of a graph.
    public struct Member: Sendable {
        let name: String
        let needs: [String]
        let make: @Sendable (Client, GroupResults) throws -> ChainStep.Made

        /// One that needs the ends of others, if any, but not their results.
        public init(_ name: String, after needs: [String] = [], _ command: some Command) {
            self.init(name, after: needs) { _ in command }
        }

        /// One whose command is made of the results of those it needs, on the thread that starts it. What `make`
        /// throws is its failure: an ``ErrandError`` as it is, any other error beneath
        /// ``ErrandError/interceptionFailed``.
        public init<C: Command>(
            _ name: String, after needs: [String], _ make: @escaping @Sendable (GroupResults) throws -> C
        ) {
            self.name = name
            self.needs = needs
            self.make = { client, results in ChainStep.Made(client.request(try make(results))) }
        }
    }

    /// None: a graph goes nowhere itself.
    public var path: String { "" }
    /// `total` bounds the whole graph. Default: none, whatever the client's is, as that is each member's. The others
    /// say nothing here.
    public var timeouts: Timeouts?
    /// So many run at a time. Above zero. Default: 64.
    public var maxConcurrent: Int
    /// Whether a failure leaves alone what does not need its result; the graph fails all the same, when nothing is
    /// left to do. Default: no, it stops the rest.
    public var goesOnAfterFailures = false

    let members: [Member]

    /// A graph of these members; their order decides where nothing else does.
    public init(_ members: [Member], maxConcurrent: Int = 64) {
        self.members = members
        self.maxConcurrent = maxConcurrent
    }

    /// Not called: the value comes from the members.
    public func decode(_ response: ErrandModel.Response) throws -> GroupResults {
        throw ErrandError.internalFailure
    }

    /// Runs the members.
    public var coordinator: GroupCoordinator? { GroupCoordinator(carrier: GraphCarrier(self)) }
}
