import Testing

/// The lines of the guide "Getting started" for a program that imports a server framework, too.
@Suite struct NamesSnippets {
    /// The names that Hummingbird, Vapor and what they export have as well.
    private static let framework = """
        public struct Request: Sendable {}
        public struct Response: Sendable {}
        public struct Cookie: Sendable {}
        public struct Then: Sendable {}
        public protocol Client {}
        public protocol Command {}
        """

    private static let program = """
        import Errand
        import Hummingbird
        import class Errand.Client
        import protocol Errand.Command

        struct Get: Command {
            var path = "x"
            var cookie: Hummingbird.Cookie?
        }

        func handle(_ request: Hummingbird.Request, by client: Client) async throws -> Hummingbird.Response? {
            let started: Errand.Request<Get> = client.start(Get())
            let response: Errand.Response = try await started.finalValue()
            return response.statusCode == 200 ? nil : nil
        }
        """

    @Test func twoLinesSettleTheNames() throws {
        let settled = try Compiler.check(Self.program, beside: ["Hummingbird": Self.framework])
        #expect(settled.code == 0, "\(settled.text)")
        let lines = Self.program.split(separator: "\n").filter {
            !$0.hasPrefix("import class") && !$0.hasPrefix("import protocol")
        }
        let unsettled = try Compiler.check(lines.joined(separator: "\n"), beside: ["Hummingbird": Self.framework])
        #expect(unsettled.code == 1)
        #expect(unsettled.text.contains("'Command' is ambiguous for type lookup"), "\(unsettled.text)")
    }
}
