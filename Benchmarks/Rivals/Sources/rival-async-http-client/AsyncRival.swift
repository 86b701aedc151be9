import AsyncHTTPClient
import NIOCore
import NIOHTTP1
import RivalSupport

/// One task for each connection, which awaits its requests one after another.
struct AsyncRival: Rival {
    let mode: String
    let loops = 1
    private let loop: OneLoop
    private let client: HTTPClient
    private let plan: RivalPlan
    private let body: RivalBody
    private let template: HTTPClientRequest

    private static let bodyLimit = 1 << 30

    init(_ plan: RivalPlan, _ mode: String, _ loop: OneLoop) throws {
        self.mode = mode
        self.plan = plan
        self.loop = loop
        client = try loop.client(plan)
        body = RivalBody(plan)
        var template = HTTPClientRequest(url: plan.address)
        template.method = HTTPMethod(rawValue: plan.method)
        for field in plan.fields { template.headers.add(name: field.name, value: field.value) }
        self.template = template
    }

    func send(_ ticket: Load.Ticket, _ load: Load) {
        Task {
            var next: Load.Ticket? = ticket
            while let current = next {
                do {
                    next = load.end(current, try await run())
                } catch {
                    next = load.end(current, .failed("\(error)"))
                }
            }
        }
    }

    private func run() async throws -> RequestEnd {
        var request = template
        if let bytes = try body.make() { request.body = .bytes(bytes) }
        var deadline = NIODeadline.distantFuture
        if plan.isRich {
            for field in RichRequest.fields { request.headers.add(name: field.name, value: field.value) }
            deadline = .now() + .seconds(Int64(RichRequest.totalSeconds))
            RichRequest.begin()
        }
        let response = try await client.execute(request, deadline: deadline)
        let bytes = try await response.body.collect(upTo: AsyncRival.bodyLimit)
        try body.check(bytes)
        let status = Int(response.status.code)
        if plan.isRich { RichRequest.end(plan.method, request.url, status: status, bytes: bytes.readableBytes) }
        guard !plan.isHTTP2 || response.version == .http2 else { return .failed("the server speaks no HTTP/2") }
        return .answered(status: status, bytes: bytes.readableBytes)
    }

    func shutDown() throws {
        try loop.shutDown(client)
    }
}
