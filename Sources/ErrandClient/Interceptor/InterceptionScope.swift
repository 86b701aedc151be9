/// The interceptors that the present task runs a command for.
struct InterceptionScope: Sendable {
    @TaskLocal static var current: InterceptionScope = InterceptionScope()

    /// How deep commands of interceptors may be nested.
    static let limit = 8

    private struct Place: Hashable {
        let client: ObjectIdentifier
        let index: Int
    }

    private var places: Set<Place> = []
    private var depth = 0

    /// Whether the task runs no command of an interceptor.
    var isEmpty: Bool { depth == 0 }

    /// The scope of a command that the interceptor at `index` runs on `client`.
    func entered(by index: Int, of client: Client) throws(ErrandError) -> InterceptionScope {
        guard depth < Self.limit else { throw InterceptionMisuse.tooDeep.error() }
        var scope = self
        scope.depth += 1
        scope.places.insert(Place(client: ObjectIdentifier(client), index: index))
        return scope
    }

    /// The places of the client's interceptors that are left out.
    func skipped(of client: Client) -> Set<Int> {
        guard depth > 0 else { return [] }
        let places = places.filter { $0.client == ObjectIdentifier(client) && $0.index < client.interceptors.count }
        return Set(places.map(\.index))
    }

    /// Whether a running request of `client` waits for the requests of this task.
    func serves(_ client: Client) -> Bool {
        places.contains { $0.client == ObjectIdentifier(client) }
    }
}
