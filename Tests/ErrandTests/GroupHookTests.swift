import Errand
import ErrandTesting
import Synchronization
import Testing

@testable import ErrandClient
@testable import ErrandGroups
@testable import ErrandModel

private struct Ask: Command {
    var path: String
    typealias Response = String
}

/// Notes everything that any request of a client tells anybody, and does something when a certain word is said.
private final class Watch: Accessory, RequestDelegate {
    let notes = Notes<String>()
    private let deed = Mutex<(word: String, perform: @Sendable () -> Void)?>(nil)

    func when(_ word: String, _ perform: @escaping @Sendable () -> Void) { deed.withLock { $0 = (word, perform) } }

    func say(_ word: String) {
        notes.add(word)
        let due = deed.withLock { deed in
            deed?.word == word ? deed.take() : nil
        }
        due?.perform()
    }

    private func name(_ request: AnyRequest) -> String {
        (request.erasedCommand as? Ask)?.path ?? request.userInfo["name"] as? String ?? "?"
    }

    func requestWillStart(_ request: AnyRequest) { say("\(name(request)) willStart") }
    func requestWillStop(_ request: AnyRequest) { say("\(name(request)) willStop") }
    func requestDidStop(_ request: AnyRequest) { say("\(name(request)) didStop") }
    func requestFinished(_ request: AnyRequest) { say("\(name(request)) finished") }
    func requestFailed(_ request: AnyRequest) { say("\(name(request)) failed") }

    /// A request with closures and a delegate.
    func request<C: Command>(_ client: Client, _ name: String, _ command: C) -> Request<C> {
        let request = client.request(command)
        request.userInfo["name"] = name
        request.delegate = self
        request.whenDone(
            success: { [self] _ in say("\(name) success") }, failure: { [self] _ in say("\(name) failure") })
        return request
    }

    func step<C: Command>(_ client: Client, _ name: String, _ command: C) -> ChainStep {
        ChainStep(
            request(client, name, command), then: { [self] _ in say("\(name) then") },
            onFailure: { [self] _, _ in
                say("\(name) onFailure")
                return .abort
            })
    }
}

/// Who hears what, and in which order: children before their group, everybody once, and nobody after a stop.
@Suite(.timeLimit(.minutes(20))) struct GroupHookTests {
    enum Tree: String {
        /// a and b at once.
        case batch
        /// a, then b.
        case chain
        /// a and c at once, b when a has ended; its members are commands, which have no closures.
        case graph
        /// A chain of a batch and d; the batch is of c and a chain of a and b.
        case nest = "chain (nested)"
    }

    enum Deed {
        case stop, cancelAll, shutdown
    }

    struct Row: CustomTestStringConvertible {
        var tree: Tree
        var failing = ""
        /// During what it is done; `nil`: when what starts at once runs.
        var word: String?
        var deed: Deed?
        /// `+x`: x starts. `x=ok`, `x=err`: it ends so, and all are told. `x=cut`: it was stopped. `x=hush`: it was stopped
        /// when its delegate had heard of a success. `x=done`: only accessories watch it. `x.y`: a closure.
        var script: String

        init(
            _ tree: Tree, failing: String = "", on word: String? = nil, _ deed: Deed? = nil, tells script: String
        ) {
            (self.tree, self.failing, self.word, self.deed, self.script) = (tree, failing, word, deed, script)
        }

        var testDescription: String {
            "\(tree.rawValue), failing: '\(failing)', \(deed.map { "\($0)" } ?? "nothing") on '\(word ?? "start")'"
        }

        func words(reportsStops: Bool) -> [String] {
            script.split(separator: " ").flatMap { part -> [String] in
                if part.hasPrefix("+") { return ["\(part.dropFirst()) willStart"] }
                if let dot = part.firstIndex(of: ".") { return ["\(part[..<dot]) \(part[part.index(after: dot)...])"] }
                let halves = part.split(separator: "=")
                let between: [String] =
                    switch halves[1] {
                    case "ok": ["finished", "success"]
                    case "err": ["failed", "failure"]
                    case "cut": reportsStops ? ["failed", "failure"] : []
                    case "hush": reportsStops ? ["finished", "success"] : ["finished"]
                    default: []
                    }
                return (["willStop"] + between + ["didStop"]).map { "\(halves[0]) \($0)" }
            }
        }
    }

    static let batches: [Row] = [
        Row(.batch, tells: "+batch +a +b a=ok b=ok batch=ok"),
        Row(.batch, failing: "a", tells: "+batch +a +b a=err b=cut batch=err"),
        Row(.batch, failing: "b", tells: "+batch +a +b a=ok b=err batch=err"),
        Row(.batch, .stop, tells: "+batch +a +b a=cut b=cut batch=cut"),
        Row(.batch, .cancelAll, tells: "+batch +a +b a=cut b=cut batch=cut"),
        Row(.batch, .shutdown, tells: "+batch +a +b a=err b=err batch=err"),
        Row(.batch, on: "batch willStart", .stop, tells: "+batch batch=cut"),
        Row(.batch, on: "batch willStart", .shutdown, tells: "+batch batch=err"),
        Row(.batch, on: "a willStart", .stop, tells: "+batch +a a=cut batch=cut"),
        Row(.batch, on: "a willStart", .cancelAll, tells: "+batch +a a=cut batch=cut"),
        Row(.batch, on: "a willStart", .shutdown, tells: "+batch +a a=err batch=err"),
        Row(.batch, on: "a willStop", .stop, tells: "+batch +a +b a=cut b=cut batch=cut"),
        Row(.batch, on: "a finished", .stop, tells: "+batch +a +b a=hush b=cut batch=cut"),
        Row(.batch, on: "a success", .stop, tells: "+batch +a +b a=ok b=cut batch=cut"),
        Row(.batch, on: "a success", .cancelAll, tells: "+batch +a +b a=ok b=cut batch=cut"),
        Row(.batch, on: "a success", .shutdown, tells: "+batch +a +b a=ok b=err batch=err"),
        Row(.batch, on: "a didStop", .stop, tells: "+batch +a +b a=ok b=cut batch=cut"),
        Row(.batch, failing: "a", on: "a failure", .stop, tells: "+batch +a +b a=err b=cut batch=cut"),
        Row(.batch, failing: "a", on: "b didStop", .stop, tells: "+batch +a +b a=err b=cut batch=cut"),
        Row(.batch, on: "batch willStop", .stop, tells: "+batch +a +b a=ok b=ok batch=cut"),
        Row(.batch, on: "batch finished", .stop, tells: "+batch +a +b a=ok b=ok batch=hush"),
        Row(.batch, on: "batch success", .cancelAll, tells: "+batch +a +b a=ok b=ok batch=ok"),
        Row(.batch, on: "batch didStop", .shutdown, tells: "+batch +a +b a=ok b=ok batch=ok"),
    ]

    static let chains: [Row] = [
        Row(.chain, tells: "+chain +a a=ok a.then +b b=ok b.then chain=ok"),
        Row(.chain, failing: "a", tells: "+chain +a a=err a.onFailure chain=err"),
        Row(.chain, failing: "b", tells: "+chain +a a=ok a.then +b b=err b.onFailure chain=err"),
        Row(.chain, .stop, tells: "+chain +a a=cut chain=cut"),
        Row(.chain, .cancelAll, tells: "+chain +a a=cut chain=cut"),
        Row(.chain, .shutdown, tells: "+chain +a a=err chain=err"),
        Row(.chain, on: "a willStart", .stop, tells: "+chain +a a=cut chain=cut"),
        Row(.chain, on: "a success", .stop, tells: "+chain +a a=ok chain=cut"),
        Row(.chain, on: "a then", .stop, tells: "+chain +a a=ok a.then chain=cut"),
        Row(.chain, on: "a then", .cancelAll, tells: "+chain +a a=ok a.then chain=cut"),
        Row(.chain, on: "a then", .shutdown, tells: "+chain +a a=ok a.then chain=err"),
        Row(.chain, on: "b willStart", .stop, tells: "+chain +a a=ok a.then +b b=cut chain=cut"),
        Row(.chain, on: "b finished", .stop, tells: "+chain +a a=ok a.then +b b=hush chain=cut"),
        Row(.chain, on: "b then", .stop, tells: "+chain +a a=ok a.then +b b=ok b.then chain=cut"),
        Row(.chain, failing: "a", on: "a onFailure", .stop, tells: "+chain +a a=err a.onFailure chain=cut"),
        Row(.chain, failing: "a", on: "a onFailure", .shutdown, tells: "+chain +a a=err a.onFailure chain=err"),
        Row(.chain, on: "chain finished", .stop, tells: "+chain +a a=ok a.then +b b=ok b.then chain=hush"),
    ]

    static let graphs: [Row] = [
        Row(.graph, tells: "+graph +a +c a=done b.make +b c=done b=done graph=ok"),
        Row(.graph, failing: "a", tells: "+graph +a +c a=done c=done graph=err"),
        Row(.graph, .stop, tells: "+graph +a +c a=done c=done graph=cut"),
        Row(.graph, .cancelAll, tells: "+graph +a +c a=done c=done graph=cut"),
        Row(.graph, .shutdown, tells: "+graph +a +c a=done c=done graph=err"),
        Row(.graph, on: "a willStart", .stop, tells: "+graph +a a=done graph=cut"),
        Row(.graph, on: "a didStop", .stop, tells: "+graph +a +c a=done c=done graph=cut"),
        Row(.graph, on: "b make", .stop, tells: "+graph +a +c a=done b.make c=done graph=cut"),
        Row(.graph, on: "b make", .cancelAll, tells: "+graph +a +c a=done b.make c=done graph=cut"),
        Row(.graph, on: "b make", .shutdown, tells: "+graph +a +c a=done b.make c=done graph=err"),
        Row(.graph, on: "graph finished", .stop, tells: "+graph +a +c a=done b.make +b c=done b=done graph=hush"),
    ]

    static let nests: [Row] = [
        Row(
            .nest,
            tells: """
                +chain +batch +inner +a +c a=ok a.then +b c=ok b=ok b.then inner=ok batch=ok batch.then +d d=ok d.then \
                chain=ok
                """),
        Row(
            .nest, failing: "a",
            tells: "+chain +batch +inner +a +c a=err a.onFailure inner=err c=cut batch=err batch.onFailure chain=err"),
        Row(
            .nest, failing: "c",
            tells: "+chain +batch +inner +a +c a=ok a.then +b c=err b=cut inner=cut batch=err batch.onFailure chain=err"
        ),
        Row(.nest, .stop, tells: "+chain +batch +inner +a +c a=cut c=cut inner=cut batch=cut chain=cut"),
        Row(.nest, .cancelAll, tells: "+chain +batch +inner +a +c a=cut c=cut inner=cut batch=cut chain=cut"),
        Row(.nest, .shutdown, tells: "+chain +batch +inner +a +c a=err c=err inner=err batch=err chain=err"),
        Row(.nest, on: "a willStart", .stop, tells: "+chain +batch +inner +a a=cut inner=cut batch=cut chain=cut"),
        Row(.nest, on: "a willStart", .shutdown, tells: "+chain +batch +inner +a a=err inner=err batch=err chain=err"),
        Row(
            .nest, on: "a success", .stop, tells: "+chain +batch +inner +a +c a=ok c=cut inner=cut batch=cut chain=cut"),
        Row(
            .nest, on: "a then", .stop,
            tells: "+chain +batch +inner +a +c a=ok a.then c=cut inner=cut batch=cut chain=cut"),
        Row(
            .nest, on: "a then", .cancelAll,
            tells: "+chain +batch +inner +a +c a=ok a.then c=cut inner=cut batch=cut chain=cut"),
        Row(
            .nest, on: "inner success", .stop,
            tells: "+chain +batch +inner +a +c a=ok a.then +b c=ok b=ok b.then inner=ok batch=cut chain=cut"),
        Row(
            .nest, on: "batch success", .stop,
            tells: "+chain +batch +inner +a +c a=ok a.then +b c=ok b=ok b.then inner=ok batch=ok chain=cut"),
        Row(
            .nest, on: "batch then", .shutdown,
            tells: "+chain +batch +inner +a +c a=ok a.then +b c=ok b=ok b.then inner=ok batch=ok batch.then chain=err"),
    ]

    @Test(arguments: batches + chains + graphs + nests, [false, true])
    func everybodyIsToldInOrder(row: Row, reportsStops: Bool) async {
        let watch = Watch()
        let stub = StubTransport(delivery: .immediate) { _ in .hold }
        let client = Client.stubbed(stub) {
            $0.accessories = [watch]
            $0.reportsStops = reportsStops
        }
        let top = Self.make(row.tree, client, watch)
        let deed: @Sendable () -> Void = {
            switch row.deed {
            case .stop: top.stop()
            case .cancelAll: client.cancelAll()
            case .shutdown: client.shutdown(.cancel) {}
            case nil: break
            }
        }
        if let word = row.word { watch.when(word, deed) }
        // All on the callback queue, so that nothing is told in the middle of it.
        client.callbacks.async {
            top.start()
            if row.word == nil { deed() }
        }
        let last = "\(row.tree == .nest ? "chain" : row.tree.rawValue) didStop"
        while !watch.notes.all.contains(last) {
            client.callbacks.async {
                guard let id = stub.open.first else { return }
                let path = stub.submitted[Int(id.rawValue) - 1].url.split(separator: "/").last ?? ""
                stub.complete(id, with: .response(Response(statusCode: path == row.failing ? 500 : 200)))
            }
            await client.callbacksDrained()
        }
        await client.callbacksDrained()
        #expect(watch.notes.all == row.words(reportsStops: reportsStops))
        #expect(stub.open.isEmpty && client.requests.isEmpty)
        await client.shutdown(.cancel)
    }

    private static func make(_ tree: Tree, _ client: Client, _ watch: Watch) -> AnyRequest {
        func ask(_ name: String) -> Request<Ask> { watch.request(client, name, Ask(path: name)) }
        func step(_ name: String) -> ChainStep { watch.step(client, name, Ask(path: name)) }
        switch tree {
        case .batch:
            return watch.request(client, "batch", Batch(requests: [ask("a"), ask("b")]))
        case .chain:
            return watch.request(client, "chain", Chain([step("a"), step("b")]))
        case .graph:
            let graph = RequestGraph([
                .init("a", Ask(path: "a")),
                .init("b", after: ["a"]) { _ in
                    watch.say("b make")
                    return Ask(path: "b")
                },
                .init("c", Ask(path: "c")),
            ])
            return watch.request(client, "graph", graph)
        case .nest:
            let inner = watch.request(client, "inner", Chain([step("a"), step("b")]))
            let batch = Batch([BatchMember(inner), BatchMember(ask("c"))])
            return watch.request(client, "chain", Chain([watch.step(client, "batch", batch), step("d")]))
        }
    }
}
