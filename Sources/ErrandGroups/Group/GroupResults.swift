/// The results of a group's children so far. A chain's steps and a graph's members are in the order in which they
/// ended, a batch's children in the order in which they were given.
public struct GroupResults: Sendable {
    /// The result of one child.
    public struct Entry: Sendable {
        /// For a chain, the number of this entry; for a batch or a graph, the child's place. From 0.
        public let index: Int
        /// The given name; `nil` for a child without one.
        public let name: String?
        /// The command's value, or its error.
        public let result: Result<any Sendable, ErrandError>
        /// The type of the command; `nil` if the command of a chain or a graph could not be made.
        public let command: (any Command.Type)?
        /// The request; `nil` for a child of a batch, and if the request could not be made.
        public let request: AnyRequest?
    }

    /// One entry for each child that ended. A step that ran again has only its last result. A step that
    /// ``ChainTurn/skip(_:)`` skipped has no entry. A step that failed and was then skipped by ``ChainRecovery/skip``
    /// has an entry with its error.
    public private(set) var entries: [Entry] = []
    /// The entries of the successes, by name and by type of command.
    private var byName: [String: [Int]] = [:]
    private var byCommand: [ObjectIdentifier: [Int]] = [:]

    package mutating func add(_ entry: Entry) {
        if case .success = entry.result {
            if let name = entry.name { byName[name, default: []].append(entries.count) }
            if let command = entry.command { byCommand[ObjectIdentifier(command), default: []].append(entries.count) }
        }
        entries.append(entry)
    }

    /// Removes the last entry because its step runs again; the next result replaces it.
    package mutating func forgetLast() -> Entry {
        let last = entries.removeLast()
        if case .success = last.result {
            if let name = last.name { byName[name]?.removeLast() }
            if let command = last.command { byCommand[ObjectIdentifier(command)]?.removeLast() }
        }
        return last
    }

    /// The last entry; for a batch, the entry with the highest number. `nil` if no child has ended.
    public var last: Entry? { entries.last }

    /// The last value of a command of that type; `nil` if there is none.
    public func value<C: Command>(of command: C.Type) -> C.Response? {
        guard let index = byCommand[ObjectIdentifier(command)]?.last, case .success(let value) = entries[index].result
        else {
            return nil
        }
        return value as? C.Response
    }

    /// All values of commands of that type, in order.
    public func values<C: Command>(of command: C.Type) -> [C.Response] {
        entries.compactMap { entry in
            guard entry.command == command, case .success(let value) = entry.result else { return nil }
            return value as? C.Response
        }
    }

    /// The last value with that name; the children of a batch have no names. Throws ``ErrandError/invalidArgument`` if
    /// there is no such value, or if it has another type.
    public func value<Value>(named name: String, as type: Value.Type = Value.self) throws(ErrandError) -> Value {
        guard let index = byName[name]?.last, case .success(let value) = entries[index].result else {
            throw ErrandError.invalidArgument.with(message: "no result named '\(name)' has a value")
        }
        guard let value = value as? Value else {
            throw ErrandError.invalidArgument.with(message: "the value of '\(name)' is not of type \(type)")
        }
        return value
    }

    /// The value of the last entry. Throws ``ErrandError/invalidArgument`` if there is no value, or if it has another
    /// type.
    package func lastValue<Value>(as type: Value.Type) throws(ErrandError) -> Value {
        guard case .success(let last)? = entries.last?.result, let value = last as? Value else {
            throw ErrandError.invalidArgument.with(message: "the previous step has no value of type \(type)")
        }
        return value
    }
}
