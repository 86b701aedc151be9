/// What the steps of a chain, or the members of a graph, have ended with so far, in the order in which they ended.
public struct GroupResults: Sendable {
    /// The end of one of them.
    public struct Entry: Sendable {
        /// A step's turn in its chain, a member's place in its graph; from 0.
        public let index: Int
        /// As it was given.
        public let name: String?
        /// The command's value, or what it failed with.
        public let result: Result<any Sendable, ErrandError>
        /// The type of the command.
        public let command: (any Command.Type)?
        /// What ran; `nil` where it could not be made.
        public let request: AnyRequest?
    }

    /// One for each end; a step that was repeated has several.
    public internal(set) var entries: [Entry] = []

    /// The last one.
    public var last: Entry? { entries.last }

    /// The last value of a command of that type; `nil` where there is none.
    public func value<C: Command>(of command: C.Type) -> C.Response? {
        for entry in entries.reversed() where entry.command == command {
            if case .success(let value) = entry.result { return value as? C.Response }
        }
        return nil
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
        for entry in entries.reversed() where entry.name == name {
            guard case .success(let value) = entry.result else { continue }
            guard let value = value as? Value else {
                throw ErrandError.invalidArgument.with(message: "the value of '\(name)' is no \(type)")
            }
            return value
        }
        throw ErrandError.invalidArgument.with(message: "there is no value of '\(name)'")
    }

    /// The last value of all. Throws ``ErrandError/invalidArgument`` where there is none, or one of another type.
    func lastValue<Value>(as type: Value.Type) throws(ErrandError) -> Value {
        guard case .success(let last)? = entries.last?.result, let value = last as? Value else {
            throw ErrandError.invalidArgument.with(message: "the step before has no value that is a \(type)")
        }
        return value
    }
}
