import AsyncHTTPClient
import NIOCore
import NIOHTTP1
import RivalSupport

/// The callback of each request starts the next one on the event loop.
struct FutureRival: Rival {
    let mode: String
    let loops = 1
    private let loop: OneLoop
    private let client: HTTPClient
    private let plan: RivalPlan
    private let body: RivalBody
    private let template: HTTPClient.Request

    init(_ plan: RivalPlan, _ mode: String) throws {
        self.mode = mode
        self.plan = plan
        loop = .own()
        client = try loop.client(plan)
        body = RivalBody(plan)
        template = try HTTPClient.Request(
            url: plan.url, method: HTTPMethod(rawValue: plan.method),
            headers: HTTPHeaders(plan.fields.map { ($0.name, $0.value) }))
    }

    func send(_ ticket: Load.Ticket, _ load: Load) {
        var request = template
        var deadline: NIODeadline?
        do {
            request.body = try body.make().map { .byteBuffer($0) }
        } catch {
            let next = load.end(ticket, .failed("\(error)"))
            if let next { send(next, load) }
            return
        }
        if plan.isRich {
            for field in RichRequest.fields { request.headers.add(name: field.name, value: field.value) }
            deadline = .now() + .seconds(Int64(RichRequest.totalSeconds))
            RichRequest.begin()
        }
        client.execute(request: request, deadline: deadline).whenComplete { result in
            if let next = load.end(ticket, outcome(result)) { send(next, load) }
        }
    }

    private func outcome(_ result: Result<HTTPClient.Response, any Error>) -> RequestEnd {
        do {
            let response = try result.get()
            let bytes = response.body ?? ByteBuffer()
            try body.check(bytes)
            let status = Int(response.status.code)
            if plan.isRich {
                RichRequest.end(plan.method, plan.address, status: status, bytes: bytes.readableBytes)
            }
            guard !plan.isHTTP2 || response.version == .http2 else { return .failed("the server speaks no HTTP/2") }
            return .answered(status: status, bytes: bytes.readableBytes)
        } catch {
            return .failed("\(error)")
        }
    }

    func shutDown() throws {
        try loop.shutDown(client)
    }
}
