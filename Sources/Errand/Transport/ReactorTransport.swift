import CErrand

/// The engine: libuv loops driving libcurl, by way of the C core.
///
/// A group that cannot be started (a libcurl on the deny-list, no threads left) does not keep the object from being
/// made; every submission is then refused with that error.
final class ReactorTransport: Transport {
    private let reactor: Result<Reactor, ErrandError>
    private let options = OptionsCache()

    init(_ configuration: Client.Configuration) {
        reactor = Result { () throws(ErrandError) in try Self.start(configuration) }
    }

    deinit {
        // Asynchronous: the last reference may well go away on a loop thread, which cannot join itself.
        if case .success(let reactor) = reactor { reactor.stop(nil) }
    }

    private static func start(_ configuration: Client.Configuration) throws(ErrandError) -> Reactor {
        let loops = try count(configuration.loops, "loops")
        let queueCapacity = try count(configuration.queueCapacity, "queueCapacity")
        let inFlightLimit = try count(configuration.inFlightLimit, "inFlightLimit")
        let originInFlightLimit = try count(configuration.originInFlightLimit, "originInFlightLimit")
        let options = try OptionsCache.make(configuration.connection)
        defer { errand_options_release(options) }
        return try Reactor.start { settings in
            settings.loops = loops
            settings.queue_capacity = queueCapacity
            settings.in_flight_limit = inFlightLimit
            settings.origin_in_flight_limit = originInFlightLimit
            settings.options = options
        }
    }

    private static func count(_ value: Int?, _ name: StaticString) throws(ErrandError) -> UInt32 {
        guard let value else { return 0 }
        guard value > 0, let exact = UInt32(exactly: value) else {
            throw ErrandError.invalidLimit.with(message: "'\(name)' is \(value), not above 0")
        }
        return exact
    }

    func submit(
        _ description: RequestDescription, for receiver: TransferReceiver
    ) throws(ErrandError) -> TransferID {
        let reactor = try reactor.get()
        let connection = try options.handle(for: description.settings.connection)
        defer { errand_options_release(connection) }
        let tag = RecordIntake.tag(for: receiver)
        let outcome = description.withCRequest { request in
            request.options = connection
            request.tag = tag
            return reactor.withGroup { group in
                _ = errand_submit(group, &request, 1)
                return (id: request.id, status: request.status)
            }
        }
        guard let outcome, outcome.status == .ok else {
            RecordIntake.discard(tag)
            throw outcome.flatMap { ErrandError($0.status) } ?? .shutDown
        }
        return TransferID(rawValue: outcome.id)
    }

    func cancel(_ id: TransferID) {
        withGroup { errand_cancel($0, id.rawValue) }
    }

    func pause(_ id: TransferID) {
        withGroup { errand_pause($0, id.rawValue) }
    }

    func resume(_ id: TransferID) {
        withGroup { errand_resume($0, id.rawValue) }
    }

    func shutdown(_ stopped: @escaping @Sendable () -> Void) {
        guard case .success(let reactor) = reactor else { return stopped() }
        reactor.stop(stopped)
    }

    /// The status is of no use here: an unknown id has just ended, and after a shutdown everything has.
    private func withGroup(_ body: (OpaquePointer) -> errand_status) {
        guard case .success(let reactor) = reactor else { return }
        _ = reactor.withGroup(body)
    }
}
