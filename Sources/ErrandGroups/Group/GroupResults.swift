/// The results so far of a group's children: of a chain's steps and a graph's members in the order in which they ended,
/// of a batch's children in the order in which they were given.
public struct GroupResults: Sendable {
    /// The result of one child.
    public struct Entry: Sendable {
        /// For a chain, the number of this entry; for a batch or a graph, the child's place. From 0.
        public let index: Int
        /// The given name; `nil` for a child without one.
        public let name: String?
        /// The command's value, or its error.
        public let result: Result<any Sendable, ErrandError>
        /// The type of the command; `nil` where the command of a chain or a graph could not be made.
        public let command: (any Command.Type)?
        /// The request; `nil` for a child of a batch, and where the request could not be made.
        public let request: AnyRequest?
    }

    /// One entry for each child that ended. A step that ran again has only its last result. A step that
    /// ``ChainTurn/skip(_:)`` skipped has no entry. A step that failed and was left by ``ChainRecovery/skip`` has its
    /// error.
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

    /// Removes the last entry because its step runs again; the next result takes its place.
    package mutating func forgetLast() -> Entry {
        let last = entries.removeLast()
        if case .success = last.result {
            if let name = last.name { byName[name]?.removeLast() }
            if let command = last.command { byCommand[ObjectIdentifier(command)]?.removeLast() }
        }
        return last
    }

    /// The last entry: of a batch, the one with the highest number. `nil` where no child has ended.
    public var last: Entry? { entries.last }

    /// The last value of a command of that type; `nil` where there is none.
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

    /// The last value with that name; the children of a batch have none. Throws ``ErrandError/invalidArgument`` where
    /// there is none, or where it has another type.
    public func value<Value>(named name: String, as type: Value.Type = Value.self) throws(ErrandError) -> Value {
        guard let index = byName[name]?.last, case .success(let value) = entries[index].result else {
            throw ErrandError.invalidArgument.with(message: "no result named '\(name)' has a value")
        }
        guard let value = value as? Value else {
            throw ErrandError.invalidArgument.with(message: "the value of '\(name)' is not of type \(type)")
        }
        return value
    }

    /// The value of the last entry. Throws ``ErrandError/invalidArgument`` where there is none, or where it has another
    /// type.
    package func lastValue<Value>(as type: Value.Type) throws(ErrandError) -> Value {
        guard case .success(let last)? = entries.last?.result, let value = last as? Value else {
            throw ErrandError.invalidArgument.with(message: "the previous step has no value of type \(type)")
        }
        return value
    }
}
