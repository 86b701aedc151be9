/// What the steps of a chain, or the members of a graph, have ended with so far, in the order in which they ended.
public struct GroupResults: Sendable {
    /// The end of one of them.
    public struct Entry: Sendable {
        /// Of a chain, which entry this is; of a graph, the member's place in it. From 0.
        public let index: Int
        /// As it was given; `nil` of a step without one.
        public let name: String?
        /// The command's value, or what it failed with.
        public let result: Result<any Sendable, ErrandError>
        /// The type of the command; `nil` where it could not be made.
        public let command: (any Command.Type)?
        /// What ran; `nil` where it could not be made.
        public let request: AnyRequest?
    }

    /// One for each end; of a step that ran again, the last one; of one that was passed over, none.
    public private(set) var entries: [Entry] = []
    /// Where the successes of each name, and of each type of command, are.
    private var byName: [String: [Int]] = [:]
    private var byCommand: [ObjectIdentifier: [Int]] = [:]

    package mutating func add(_ entry: Entry) {
        if case .success = entry.result {
            if let name = entry.name { byName[name, default: []].append(entries.count) }
            if let command = entry.command { byCommand[ObjectIdentifier(command), default: []].append(entries.count) }
        }
        entries.append(entry)
    }

    /// The last one runs again: its place is for what it ends with then.
    package mutating func forgetLast() -> Entry {
        let last = entries.removeLast()
        if case .success = last.result {
            if let name = last.name { byName[name]?.removeLast() }
            if let command = last.command { byCommand[ObjectIdentifier(command)]?.removeLast() }
        }
        return last
    }

    /// The last one; `nil` where none has ended.
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

    /// The last value of that name. Throws ``ErrandError/invalidArgument`` where there is none, or one of another type.
    public func value<Value>(named name: String, as type: Value.Type = Value.self) throws(ErrandError) -> Value {
        guard let index = byName[name]?.last, case .success(let value) = entries[index].result else {
            throw ErrandError.invalidArgument.with(message: "there is no value of '\(name)'")
        }
        guard let value = value as? Value else {
            throw ErrandError.invalidArgument.with(message: "the value of '\(name)' is no \(type)")
        }
        return value
    }

    /// The last value of all. Throws ``ErrandError/invalidArgument`` where there is none, or one of another type.
    package func lastValue<Value>(as type: Value.Type) throws(ErrandError) -> Value {
        guard case .success(let last)? = entries.last?.result, let value = last as? Value else {
            throw ErrandError.invalidArgument.with(message: "the step before has no value that is a \(type)")
        }
        return value
    }
}
