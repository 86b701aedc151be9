import Dispatch
import Errand
import Foundation
import HTTPTypes
import RivalSupport

/// One client with one loop.
struct ErrandRival: Rival {
    let mode: String
    let loops = 1
    private let isAsync: Bool
    private let tasks: CallbackQueue?
    private let client: Client
    private let plan: RivalPlan
    private let method: HTTPRequest.Method

    init(_ plan: RivalPlan, _ mode: ErrandModes.Mode) throws {
        self.mode = mode.rawValue
        self.plan = plan
        isAsync = mode != .closure
        tasks = mode == .asyncOnQueue ? .serial() : nil
        guard let method = HTTPRequest.Method(rawValue: plan.method) else { throw RivalError("no method") }
        self.method = method
        var configuration = Client.Configuration()
        configuration.loops = 1
        configuration.userAgent = nil
        configuration.queueCapacity = max(65_536, plan.connections)
        // The load limits the requests in flight, so the client's own limits must not.
        configuration.inFlightLimit = plan.connections
        configuration.originInFlightLimit = plan.connections
        configuration.connection.httpVersion = plan.isHTTP2 ? .http2OverTLS : .http1
        configuration.connection.tls.caFile = plan.authorities.map { .value($0) }
        configuration.timeouts = Timeouts(connect: .seconds(RichRequest.idleSeconds))
        for field in plan.fields {
            guard let name = HTTPField.Name(field.name) else { throw RivalError("'\(field.name)' names no field") }
            configuration.headers.append(HTTPField(name: name, value: field.value))
        }
        if plan.isRich { configuration.accessories = [RichObserver(plan)] }
        configuration.callbackQueue = tasks
        client = Client(configuration: configuration)
    }

    func send(_ ticket: Load.Ticket, _ load: Load) {
        if plan.isTyped {
            send(PostItem(path: plan.address), ticket, load)
        } else if plan.isRich {
            send(RichCommand(path: plan.address), ticket, load)
        } else {
            send(PlainCommand(method: method, path: plan.address, body: body), ticket, load)
        }
    }

    private var body: RequestBody {
        plan.body.map { .data($0, contentType: nil) } ?? .empty
    }

    private func send<C: Command>(_ command: C, _ ticket: Load.Ticket, _ load: Load) where C.Response: Counted {
        guard isAsync else { return start(command, ticket, load) }
        Task(executorPreference: tasks) { [client] in
            var next: Load.Ticket? = ticket
            while let current = next {
                do {
                    next = load.end(current, try await client.run(command).outcome)
                } catch {
                    next = load.end(current, .failed("\(error)"))
                }
            }
        }
    }

    private func start<C: Command>(_ command: C, _ ticket: Load.Ticket, _ load: Load) where C.Response: Counted {
        client.start(command) { request in
            let outcome = request.value?.outcome ?? .failed("\(request.error ?? .cancelled)")
            if let next = load.end(ticket, outcome) { start(command, next, load) }
        }
    }

    func shutDown() {
        let isOver = DispatchSemaphore(value: 0)
        client.shutdown(.cancel) { isOver.signal() }
        isOver.wait()
    }
}
