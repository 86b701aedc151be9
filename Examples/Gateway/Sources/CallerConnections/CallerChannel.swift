import CoreMetrics
import HTTPTypes
package import HummingbirdCore
package import Logging
package import NIOCore
import NIOHTTPTypes

/// The upload has not ended, and nothing else may read the rest of it. The connection is closed after its answer.
package struct UnfinishedUpload: Error {
    package init() {}
}

/// The connection of a caller. It counts requests. If a caller hangs up, the task of its connection is cancelled, and
/// with it the request upstream.
package struct CallerChannel: ServerChildChannel {
    package typealias Value = HTTP1Channel.Value

    private let http: HTTP1Channel

    package init(_ responder: @escaping HTTPChannelHandler.Responder) {
        let accepted = Counter(label: "gateway.requests.accepted")
        let answered = Counter(label: "gateway.requests.answered")
        let broken = Counter(label: "gateway.requests.broken")
        http = HTTP1Channel(
            responder: { (request: Request, writer: consuming ResponseWriter, channel: any Channel) in
                accepted.increment()
                do {
                    if request.headers[.expect]?.lowercased() == "100-continue" {
                        try await writer.writeInformationalHead(HTTPResponse(status: .continue))
                    }
                    try await responder(request, writer, channel)
                    answered.increment()
                } catch {
                    if error is UnfinishedUpload { answered.increment() } else { broken.increment() }
                    throw error
                }
            }, configuration: .init(additionalChannelHandlers: [CallerConnection()], idleTimeout: .seconds(60)))
    }

    package func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<HTTP1Channel.Value> {
        http.setup(channel: channel, logger: logger)
    }

    package func handle(value: HTTP1Channel.Value, logger: Logger) async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await http.handle(value: value, logger: logger) }
            group.addTask { try? await value.channel.closeFuture.get() }
            _ = await group.next()
            group.cancelAll()
        }
    }
}

/// Detects hang-ups, and makes the end of a connection safe for its caller. Used on the channel's event loop only.
final class CallerConnection: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    /// How long a connection stays open when the server shuts down. A request that is already on its way on an idle
    /// connection is still answered, with `Connection: close`.
    private static let grace = TimeAmount.milliseconds(300)

    private var unanswered = 0
    private var isClosing = false

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if case .head = unwrapInboundIn(data) { unanswered += 1 }
        context.fireChannelRead(data)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        switch unwrapOutboundIn(data) {
        case .head(var head) where isClosing && head.status.code >= 200:
            head.headerFields[.connection] = "close"
            return context.write(wrapOutboundOut(.head(head)), promise: promise)
        case .end: unanswered -= 1
        case .head, .body: break
        }
        context.write(data, promise: promise)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case is ChannelShouldQuiesceEvent where !isClosing:
            isClosing = true
            context.eventLoop.assumeIsolated().scheduleTask(in: Self.grace) {
                context.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
            }
        case let event as ChannelEvent where event == .inputClosed && unanswered > 0:
            // As in other gateways, half-closed connections are not distinguished from closed ones.
            context.close(promise: nil)
        default: context.fireUserInboundEventTriggered(event)
        }
    }
}
