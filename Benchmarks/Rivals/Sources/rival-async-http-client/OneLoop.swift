import AsyncHTTPClient
import NIOCore
import NIOPosix
import NIOSSL
import RivalSupport

/// A client on a single event loop, like every program of the comparison.
struct OneLoop: Sendable {
    let group: MultiThreadedEventLoopGroup
    private let isOwn: Bool

    static func own() -> OneLoop {
        OneLoop(group: MultiThreadedEventLoopGroup(numberOfThreads: 1), isOwn: true)
    }

    /// Makes the loop the executor of all tasks of the process, so that a task and its connection share a thread. Must
    /// be called once, from the main thread, before any task exists.
    static func executor() throws -> OneLoop {
        NIOSingletons.groupLoopCountSuggestion = 1
        guard NIOSingletons.unsafeTryInstallSingletonPosixEventLoopGroupAsConcurrencyGlobalExecutor() else {
            throw RivalError("this Swift does not let an event loop be the executor of tasks")
        }
        return OneLoop(group: .singleton, isOwn: false)
    }

    /// A client with as many connections as requests in flight, and without features that the load does not need.
    func client(_ plan: RivalPlan) throws -> HTTPClient {
        var configuration = HTTPClient.Configuration(
            redirectConfiguration: .disallow,
            timeout: OneLoop.timeout(plan),
            connectionPool: HTTPClient.Configuration.ConnectionPool(
                idleTimeout: .minutes(5), concurrentHTTP1ConnectionsPerHostSoftLimit: plan.connections),
            decompression: .disabled)
        configuration.httpVersion = plan.isHTTP2 ? .automatic : .http1Only
        configuration.tracing.tracer = nil
        if let authorities = plan.authorities {
            var security = TLSConfiguration.makeClientConfiguration()
            security.trustRoots = .certificates(try NIOSSLCertificate.fromPEMFile(authorities))
            configuration.tlsConfiguration = security
        }
        return HTTPClient(eventLoopGroupProvider: .shared(group), configuration: configuration)
    }

    /// The connect timeout also runs while a request waits in the pool. With 10,000 connections that wait takes
    /// seconds, because each look-up of a connection is a search.
    private static func timeout(_ plan: RivalPlan) -> HTTPClient.Configuration.Timeout {
        plan.isRich
            ? HTTPClient.Configuration.Timeout(
                connect: .seconds(Int64(RichRequest.connectSeconds)), read: .seconds(Int64(RichRequest.idleSeconds)))
            : HTTPClient.Configuration.Timeout(connect: .seconds(60))
    }

    func shutDown(_ client: HTTPClient) throws {
        try client.syncShutdown()
        if isOwn { try group.syncShutdownGracefully() }
    }
}
