extension Client {
    /// Runs commands of different types at once and returns their values, typed. The first failure stops the other
    /// commands.
    ///
    /// ```swift
    /// let (user, prices) = try await client.run(GetUser(id: 1), ListPrices())
    /// ```
    ///
    /// Cancelling the task stops all commands. Throws ``ErrandError/groupFailed``, never the error of the failed
    /// command itself; ``ErrandError/groupFailure`` says which command failed and with which error. Throws
    /// `CancellationError` if the task was cancelled. At most 64 commands run at a time. (YTKNetwork
    /// `YTKBatchRequest`.)
    public func run<First: Command, Second: Command, each More: Command>(
        _ first: First, _ second: Second, _ more: repeat each More
    ) async throws -> (First.Response, Second.Response, repeat (each More).Response) {
        let members = Self.members(first, second, repeat each more)
        var values = try await run(Batch(members)).results.makeIterator()
        return (
            try Self.value(of: First.self, values.next()), try Self.value(of: Second.self, values.next()),
            repeat try Self.value(of: (each More).self, values.next())
        )
    }

    /// Runs commands of different types at once, each to its end, and returns their results. Cancelling the task stops
    /// all commands and throws `CancellationError`.
    public func results<First: Command, Second: Command, each More: Command>(
        of first: First, _ second: Second, _ more: repeat each More
    ) async throws -> (
        Result<First.Response, ErrandError>, Result<Second.Response, ErrandError>,
        repeat Result<(each More).Response, ErrandError>
    ) {
        let members = Self.members(first, second, repeat each more)
        var results = try await run(Batch(members, policy: .collectAll)).results.makeIterator()
        return (
            Self.result(of: First.self, results.next()), Self.result(of: Second.self, results.next()),
            repeat Self.result(of: (each More).self, results.next())
        )
    }

    private static func members<each C: Command>(_ commands: repeat each C) -> [BatchMember] {
        var members: [BatchMember] = []
        repeat members.append(BatchMember(each commands))
        return members
    }

    private static func result<C: Command>(
        of command: C.Type, _ result: Result<any Sendable, ErrandError>?
    ) -> Result<C.Response, ErrandError> {
        switch result {
        case .success(let value)?: (value as? C.Response).map { .success($0) } ?? .failure(.internalFailure)
        case .failure(let error)?: .failure(error)
        case nil: .failure(.internalFailure)
        }
    }

    private static func value<C: Command>(
        of command: C.Type, _ given: Result<any Sendable, ErrandError>?
    ) throws(ErrandError) -> C.Response {
        try result(of: command, given).get()
    }
}
