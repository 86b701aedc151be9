import CErrand
import HTTPTypes

/// The engine: libuv loops that drive libcurl, through the C core.
///
/// The object is made even if the group cannot be started (a libcurl on the deny-list, no threads left); every
/// submission is then refused with that error. Options that cannot be used do not prevent the start: they are made anew
/// for each submission that uses them, and the submission is refused while that fails.
package final class ReactorTransport: ShortIDTransport {
    /// An id is a number that is counted up, and six bits for the loop.
    package var idsAreShort: Bool { true }
    let reactor: Result<Reactor, ErrandError>
    /// Why the engine could not be started; `nil`: it was.
    package var failure: ErrandError? {
        if case .failure(let error) = reactor { error } else { nil }
    }
    private let options: OptionsCache
    /// The client's own options, if the group was started without them.
    private let missing: ConnectionOptions?
    /// Whether `missing` is set: every submission asks, and reading the optional copies the options.
    private let hasMissing: Bool
    /// `nil`: the group has no cookies.
    package let cookies: CookieJar?
    /// The filter that judges the addresses of connections, for this engine alone; `nil`: there is none.
    package let addressFilter: (any AddressFilter)?
    /// `nil`: nothing judges.
    private let judge: ProxiedHostJudge?
    /// For requests whose command has a judge of its own, or none.
    private let judges: AddressJudges

    /// `pause`: see ``OptionsCache``.
    package init(_ settings: ReactorSettings, pause: Int = OptionsCache.pause) {
        let connection = settings.connection.resolved
        let options = OptionsCache(pause: pause)
        self.options = options
        let made = try? options.standardHandle(for: connection)
        missing = made == nil ? connection : nil
        hasMissing = made == nil
        let filter = settings.addressFilter?.forEngine()
        addressFilter = filter
        judge = filter.map { ProxiedHostJudge(filter: $0, connection: connection) }
        judges = AddressJudges(besides: filter, connection: connection, pause: pause)
        let reactor = Result { () throws(ErrandError) in try Self.start(settings, made, filter) }
        errand_options_release(made)
        self.reactor = reactor
        cookies = settings.cookies == .off ? nil : CookieJar(reactor)
    }

    deinit {
        // Asynchronous: the last reference may be released on a loop thread, which cannot join itself.
        if case .success(let reactor) = reactor { reactor.stop(nil) }
    }

    private static func start(
        _ settings: ReactorSettings, _ options: OpaquePointer?, _ filter: (any AddressFilter)?
    ) throws(ErrandError) -> Reactor {
        let loops = try count(settings.loops, "loops", atMost: 64)
        let queueCapacity = try count(settings.queueCapacity, "queueCapacity")
        let inFlightLimit = try count(settings.inFlightLimit, "inFlightLimit")
        let originInFlightLimit = try count(settings.originInFlightLimit, "originInFlightLimit")
        let maxConcurrentStreams = try count(settings.maxConcurrentStreams, "maxConcurrentStreams")
        return try withCookieFile(settings.cookies) { cookieFile in
            Result { () throws(ErrandError) in
                try Reactor.start(filter: filter) { group in
                    group.loops = loops
                    group.queue_capacity = queueCapacity
                    group.in_flight_limit = inFlightLimit
                    group.origin_in_flight_limit = originInFlightLimit
                    group.max_concurrent_streams = maxConcurrentStreams
                    group.options = options
                    group.cookies = settings.cookies == .off ? .off : .on
                    group.cookie_file = cookieFile
                }
            }
        }
    }

    private static func withCookieFile(
        _ storage: CookieStorage, _ body: (UnsafePointer<CChar>?) -> Result<Reactor, ErrandError>
    ) throws(ErrandError) -> Reactor {
        guard case .file(let path) = storage else { return try body(nil).get() }
        guard !path.isEmpty, !path.utf8.contains(0) else {
            throw ErrandError.invalidOption.with(message: "the cookie file's path is empty or contains a NUL")
        }
        return try path.withCString(body).get()
    }

    /// `maximum`: the bounds of the core.
    private static func count(
        _ value: Int?, _ name: StaticString, atMost maximum: Int = 1 << 24
    ) throws(ErrandError) -> UInt32 {
        guard let value else { return 0 }
        guard value > 0, value <= maximum, let exact = UInt32(exactly: value) else {
            throw ErrandError.invalidLimit.with(message: "'\(name)' is \(value), expected 1...\(maximum)")
        }
        return exact
    }

    package func submit(
        _ description: RequestDescription, for receiver: TransferReceiver
    ) throws(ErrandError) -> TransferID {
        let reactor = try reactor.get()
        let connection = try handle(for: description)
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
            throw Self.refusal(outcome?.status, description)
        }
        return TransferID(rawValue: outcome.id)
    }

    /// Checks the host that a proxy is asked for. Ownership as in ``OptionsCache/handle(for:)``.
    private func handle(for description: RequestDescription) throws(ErrandError) -> OpaquePointer? {
        if description.hasRareMembers, let choice = description.resilience?.choice,
            let own = judges.judged(by: choice.addressFilter)
        {
            return try own.handle(for: description)
        }
        if let judge { try judge.check(description) }
        if description.settings.hasConnection { return try options.handle(for: description.settings.connection) }
        return hasMissing ? try options.handle(for: missing) : options.standardHandle()
    }

    /// `status` `nil`: the group was destroyed.
    private static func refusal(_ status: errand_status?, _ description: RequestDescription) -> ErrandError {
        guard let status, let error = ErrandError(status) else { return .shutDown }
        if error == .invalidMethod, description.method == .connect {
            return error.with(
                message: "the method CONNECT is not supported; the engine opens tunnels through a proxy itself")
        }
        guard error == .invalidBody || error == .fileUnreadable || error == .outOfDescriptors else { return error }
        // The body was valid when the request was built.
        switch description.body {
        case .file(let path, let offset, let length):
            let stretch = length.map { "\($0) bytes" } ?? "all"
            return error.with(message: "\(stretch) of \(path) from offset \(offset) cannot be sent: \(error.message)")
        case .stream(let length): return error.with(message: sized(length, error))
        case .source(let source): return error.with(message: sized(source.length, error))
        case .none, .bytes, .data, .shared: return error
        }
    }

    private static func sized(_ length: Int64?, _ error: ErrandError) -> String {
        "a body of \(length.map { "\($0) bytes" } ?? "unknown length") cannot be sent: \(error.message)"
    }

    package func cancel(_ id: TransferID) {
        withGroup { errand_cancel($0, id.rawValue) }
    }

    package func pause(_ id: TransferID) {
        withGroup { errand_pause($0, id.rawValue) }
    }

    package func resume(_ id: TransferID) {
        withGroup { errand_resume($0, id.rawValue) }
    }

    package func grant(_ id: TransferID, bytes: Int) {
        guard bytes > 0 else { return }
        withGroup { errand_grant($0, id.rawValue, UInt64(bytes)) }
    }

    package func write(_ bytes: UnsafeRawBufferPointer, to id: TransferID) {
        let view = errand_bytes(data: bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), length: bytes.count)
        withGroup { group in
            let status = errand_upload_write(group, id.rawValue, view)
            // A body with missing bytes must not be sent.
            if status == .outOfMemory { _ = errand_upload_fail(group, id.rawValue) }
            return status
        }
    }

    package func write(shared bytes: SharedBytes, to id: TransferID) {
        guard case .success(let reactor) = reactor else { return }
        let loan = SharedBytes.Loan(bytes)
        let status = reactor.withGroup { group in
            let status = errand_upload_lend(
                group, id.rawValue, loan.bytes, SharedBytes.Loan.release, loan.context)
            if status == .outOfMemory { _ = errand_upload_fail(group, id.rawValue) }
            return status
        }
        // The group was destroyed, and gives nothing back.
        if status == nil { loan.takeBack() }
    }

    package func finishUpload(_ id: TransferID) {
        withGroup { errand_upload_finish($0, id.rawValue) }
    }

    package func failUpload(_ id: TransferID) {
        withGroup { errand_upload_fail($0, id.rawValue) }
    }

    /// The engine does not resend bodies that are written to it.
    package func restartUpload(_ id: TransferID, after attempt: Int) {}

    package func filesMayHaveChanged() {
        options.lookSoon()
        judges.lookSoon()
    }

    /// The filter that judges as `other`, with what it has counted; `nil`: no recent request had one.
    package func addressFilter(judgingAs other: any AddressFilter) -> (any AddressFilter)? {
        judges.filter(judgingAs: other)
    }

    package func shutdown(_ stopped: @escaping @Sendable () -> Void) {
        guard case .success(let reactor) = reactor else { return stopped() }
        reactor.stop(stopped)
    }

    /// The status is ignored: an unknown id is that of a transfer that has just ended, and after a shutdown all have
    /// ended.
    private func withGroup(_ body: (OpaquePointer) -> errand_status) {
        guard case .success(let reactor) = reactor else { return }
        _ = reactor.withGroup(body)
    }
}
