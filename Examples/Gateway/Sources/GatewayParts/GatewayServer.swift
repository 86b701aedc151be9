import CallerConnections
package import Configuration
import CoreMetrics
import HTTPTypes
import Hummingbird
import HummingbirdCore
package import Logging
import NIOCore
import ServiceLifecycle

/// Sends requests to a server upstream.
package protocol Upstream: Sendable {
    /// Throws a ``Problem``, or another error if the caller has hung up.
    func answer(_ call: Call) async throws -> Answer
}

/// The server side of a gateway. It answers `/healthz` and `/metrics` itself; all other requests are answered upstream.
package struct GatewayServer: Service {
    private let application: Application<GatewayResponder>

    /// `page`: the text of `/metrics`.
    package init(
        _ reader: ConfigReader, to upstream: any Upstream, isTraced: Bool = false, logger: Logger,
        page: @escaping @Sendable () -> String
    ) throws {
        let host = reader.string(forKey: "host", default: "127.0.0.1")
        let text = reader.string(forKey: "port", default: "8080")
        guard let port = UInt16(text) else {
            throw InvalidPort(description: "the port \"\(text)\" is not a number to 65535")
        }
        application = Application(
            responder: GatewayResponder(reader, upstream, isTraced: isTraced, page),
            server: HTTPServerBuilder { responder in CallerChannel(responder) },
            configuration: ApplicationConfiguration(address: .hostname(host, port: Int(port))), logger: logger)
    }

    package func run() async throws { try await application.run() }
}

struct InvalidPort: Error, CustomStringConvertible {
    let description: String
}

/// The context of a request, with the address of its caller.
struct CallerContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    let address: String?

    init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
        address = source.channel.remoteAddress?.ipAddress
    }
}

struct GatewayResponder: HTTPResponder {
    private let upstream: any Upstream
    private let trusted: Bool
    private let tracing: TracingMiddleware<CallerContext>?
    private let page: @Sendable () -> String
    /// How long callers have waited for the heads of answers 1xx to 5xx. There are few labels, and no look-up for a
    /// request.
    private let durations = (1...5).map { digit in
        Recorder(label: "gateway.request.duration", dimensions: [("status", "\(digit)xx")])
    }

    init(
        _ reader: ConfigReader, _ upstream: any Upstream, isTraced: Bool, _ page: @escaping @Sendable () -> String
    ) {
        self.upstream = upstream
        self.page = page
        trusted = reader.bool(forKey: "trustsForwarded", default: false)
        tracing = isTraced ? TracingMiddleware(redactingQueryParameters: ["access_token", "sig", "token"]) : nil
    }

    func respond(to request: Request, context: CallerContext) async throws -> Response {
        switch request.uri.path {
        case "/healthz": return Self.text("ok\n")
        case "/metrics": return Self.text(page())
        default: break
        }
        guard let tracing else { return try await answer(request, context) }
        context.coreContext.endpointPath.value = "/"
        return try await tracing.handle(request, context: context) { request, context in
            try await answer(request, context)
        }
    }

    private func answer(_ request: Request, _ context: CallerContext) async throws -> Response {
        let start = ContinuousClock.now
        var upload: Upload?
        var response: Response
        do {
            guard let target = request.head.path, target.hasPrefix("/") else {
                throw Problem(.badRequest, "the target of the request is no path")
            }
            let fields = request.headers.sentUpstream(of: request.head, from: context.address, trusted: trusted)
            let body = try await CallBody(request)
            upload = body.upload
            response = try await upstream.answer(
                Call(method: request.method, target: target, fields: fields, body: body))
        } catch let problem as Problem {
            response = problem.response
        }
        if let upload { response = response.closing(unlessOver: upload) }
        let seconds: Double = start.duration(to: .now) / .seconds(1)
        durations[min(max(response.status.code / 100, 1), 5) - 1].record(seconds)
        return response
    }

    private static func text(_ text: String) -> Response {
        Response(
            status: .ok, headers: [.contentType: "text/plain; version=0.0.4"],
            body: ResponseBody(byteBuffer: ByteBuffer(string: text)))
    }
}
