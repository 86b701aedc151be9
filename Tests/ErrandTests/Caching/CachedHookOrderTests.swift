import Errand
import ErrandTesting
import HTTPTypes
import Testing

@testable import ErrandClient
@testable import ErrandGroups

/// Who hears of a hit, and in which order: as of the network, alone and in groups.
@Suite(.timeLimit(.minutes(20))) struct CachedHookOrderTests {
    static let policies = [CachePolicy.timed(.seconds(60)), .http]

    private static let answer: CachingBench.Answer = { _, _ in
        .response(status: 200, headers: ["Cache-Control": "max-age=60"], body: "b")
    }

    /// Every hook that a command has.
    private struct Told: Command {
        let path: String
        let notes: Notes<String>
        var cache: CachePolicy?
        var interceptors: [any Interceptor] { [Noting(told: self)] }
        var validator: (@Sendable (String, Errand.Response) async throws -> Void)? {
            { _, _ in notes.add("\(path) validator") }
        }
        var successPreprocessor: (@Sendable (String, Errand.Response) async -> Void)? {
            { _, _ in notes.add("\(path) preprocessor") }
        }
        var successFilter: (@Sendable (Request<Self>) -> Void)? { { _ in notes.add("\(path) filter") } }

        func decode(_ response: Errand.Response) throws -> String {
            notes.add("\(path) decode")
            return try response.text()
        }

        private struct Noting: StepwiseInterceptor {
            let told: Told

            func prepare(
                _ description: RequestDescription, in context: InterceptionContext
            ) async throws -> RequestDescription {
                told.notes.add("\(told.path) prepare")
                return description
            }

            func transform(_ response: Response, in context: InterceptionContext) async throws -> Response {
                told.notes.add("\(told.path) transform")
                return response
            }

            func replays(after result: TransferResult, in context: InterceptionContext) -> Bool { false }
        }
    }

    /// An accessory of one request, or its delegate.
    private final class Watcher: Accessory, RequestDelegate {
        let name: String
        let notes: Notes<String>

        init(_ name: String, _ notes: Notes<String>) {
            self.name = name
            self.notes = notes
        }

        func requestWillStart(_ request: AnyRequest) { notes.add("\(name) willStart") }
        func requestWillStop(_ request: AnyRequest) { notes.add("\(name) willStop") }
        func requestDidStop(_ request: AnyRequest) { notes.add("\(name) didStop") }
        func requestFinished(_ request: AnyRequest) { notes.add("\(name) delegate") }
        func requestFailed(_ request: AnyRequest) { notes.add("\(name) failed") }
    }

    /// What one run tells.
    private struct Run {
        let client: Client
        let policy: CachePolicy
        let notes = Notes<String>()

        /// A request that all of them watch; and the delegates, which it does not keep.
        func watched<C: Command>(_ name: String, _ command: C) -> (request: Request<C>, watcher: Watcher) {
            let watcher = Watcher(name, notes)
            let request = client.request(command)
            request.addAccessory(watcher)
            request.delegate = watcher
            request.whenDone(
                success: { [notes] _ in notes.add("\(name) success") },
                failure: { [notes] _ in notes.add("\(name) failure") })
            return (request, watcher)
        }

        func told(_ name: String) -> (request: Request<Told>, watcher: Watcher) {
            watched(name, Told(path: name, notes: notes, cache: policy))
        }

        func end<C: Command>(_ watched: (request: Request<C>, watcher: Watcher)) async throws -> Request<C> {
            watched.request.start()
            let last = "\(watched.watcher.name) didStop"
            try await waitUntil("\(last) was told") { notes.all.contains(last) }
            return watched.request
        }

        /// What was said of one; the name left out.
        func notes(of name: String) -> [String] {
            notes.all.filter { $0.hasPrefix(name + " ") }.map { String($0.dropFirst(name.count + 1)) }
        }
    }

    private static let whole = [
        "willStart", "prepare", "transform", "decode", "validator", "preprocessor", "willStop", "filter", "delegate",
        "success", "didStop",
    ]
    private static let group = ["willStart", "willStop", "delegate", "success", "didStop"]

    @Test(arguments: policies) func alone(_ policy: CachePolicy) async throws {
        try await CachingBench(answer: Self.answer).run { bench async throws in
            for isHit in [false, true] {
                let run = Run(client: bench.client, policy: policy)
                let request = try await run.end(run.told("a"))
                #expect(request.isFromCache == isHit)
                #expect(run.notes(of: "a") == Self.whole)
            }
            #expect(bench.sent == 1)
        }
    }

    /// Children are told side by side; the group when all of them were.
    @Test(arguments: policies) func inABatch(_ policy: CachePolicy) async throws {
        try await CachingBench(answer: Self.answer).run { bench async throws in
            for isHit in [false, true] {
                let run = Run(client: bench.client, policy: policy)
                let children = ["a", "b"].map { run.told($0) }
                let group = try await run.end(run.watched("group", Batch(requests: children.map(\.request))))
                #expect(group.isFromCache == isHit)
                for (request, watcher) in children {
                    #expect(request.isFromCache == isHit)
                    #expect(run.notes(of: watcher.name) == Self.whole)
                }
                #expect(run.notes(of: "group") == Self.group)
                #expect(run.notes.all.first == "group willStart")
                #expect(run.notes.all.suffix(4) == Self.group.suffix(4).map { "group " + $0 })
            }
            #expect(bench.sent == 2)
        }
    }

    /// Everything in one order: what a step does next comes after all that its child is told.
    @Test(arguments: policies) func inAChain(_ policy: CachePolicy) async throws {
        try await CachingBench(answer: Self.answer).run { bench async throws in
            var orders: [[String]] = []
            for isHit in [false, true] {
                let run = Run(client: bench.client, policy: policy)
                let children = ["a", "b"].map { run.told($0) }
                let steps = children.map { child in
                    ChainStep(child.request, then: { [name = child.watcher.name] _ in run.notes.add("\(name) then") })
                }
                let group = try await run.end(run.watched("group", Chain(steps)))
                #expect(group.isFromCache == isHit)
                for child in children { #expect(child.request.isFromCache == isHit) }
                orders.append(run.notes.all)
            }
            #expect(orders[0] == orders[1])
            let child = Self.whole + ["then"]
            #expect(
                orders[1] == ["group willStart"] + child.map { "a " + $0 } + child.map { "b " + $0 }
                    + Self.group.dropFirst().map { "group " + $0 })
            #expect(bench.sent == 2)
        }
    }

    /// A group is the cache's only where all of it is.
    @Test(arguments: policies) func aMixedChainIsTheNetworks(_ policy: CachePolicy) async throws {
        try await CachingBench(answer: Self.answer).run { bench async throws in
            let before = Run(client: bench.client, policy: policy)
            _ = try await before.end(before.told("a"))
            let run = Run(client: bench.client, policy: policy)
            let children = ["a", "b"].map { run.told($0) }
            let group = try await run.end(run.watched("group", Chain(children.map { ChainStep($0.request) })))
            #expect(!group.isFromCache)
            #expect(children.map(\.request.isFromCache) == [true, false])
            #expect(children.allSatisfy { run.notes(of: $0.watcher.name) == Self.whole })
        }
    }
}
