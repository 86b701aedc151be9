import Dispatch
import HTTPTypes
import Synchronization

/// Wraps a client's transport for requests that are cached. It reads the cache, sends the requests that miss, and
/// stores their responses.
///
/// A store that answers at once is read within `submit`. Any other store is read on its queue, and no thread waits for
/// it. The end of a transfer is handled on the queue of its receiver, so that no loop thread parses headers. Phases
/// change under the table's lock; all other work is done after the lock is released.
package final class CacheCarrier: ClientCache, Transport {
    package let cache: ResponseCache
    private let base: any Transport
    private let coalescing: CoalescingTransport
    package let identity: CacheIdentity
    /// Measures `Timeouts.total` before the request is sent.
    private let stopwatch: Stopwatch
    private let lastID = Atomic<UInt64>(0)
    private let table = Mutex(Table())
    /// The queue on which background revalidations are handled.
    private let background = CallbackQueue.dispatchQueue(.global())

    private struct Table: ~Copyable {
        var transfers: [TransferID: CacheTransfer] = [:]
        /// Keys that are being revalidated in the background.
        var revalidated: Set<CacheKey> = []
        /// The client is being shut down.
        var isStopping = false
    }

    package init(
        _ cache: ResponseCache, over base: any Transport, coalescing: CoalescingTransport, identity: CacheIdentity,
        stopwatch: Stopwatch
    ) {
        self.cache = cache
        self.base = base
        self.coalescing = coalescing
        self.identity = identity
        self.stopwatch = stopwatch
    }

    /// The number of known transfers.
    var count: Int { table.withLock { $0.transfers.count + $0.revalidated.count } }

    package func submit(
        _ description: RequestDescription, for receiver: TransferReceiver
    ) throws(ErrandError) -> TransferID {
        let id = TransferID(rawValue: lastID.wrappingAdd(1, ordering: .relaxed).newValue)
        let isCoalesced = description.options.contains(.coalesced)
        let plan = description.responseCachePlan
        let key = plan?.key(for: description, identity: identity)
        // Taken before any read: see `CacheChanges`.
        let moment = cache.changes.moment
        var known: CacheStoreQueue.AtOnce?
        if let plan, let key, plan.servesHits {
            let atOnce = cache.queue.readAtOnce(key)
            if case .known(let record?) = atOnce,
                let response = CacheHit.response(record, under: key, for: description, plan)
            {
                plan.run.ended(.stored)
                TransferReceiver.deliver(CollectionOfOne(TransferEvent(receiver, .ended(.response(response)))))
                return id
            }
            known = atOnce
        }
        let transfer = CacheTransfer(
            id, description, plan, for: receiver,
            over: isCoalesced || plan?.members.collapsesMisses == true ? coalescing : base, of: self,
            callbacks: receiver.callbacks)
        lookUp(transfer, key, known, at: moment)
        let entered = table.withLock { table -> Entered in
            guard !transfer.isOver else { return transfer.refusal.map { .refused($0) } ?? .settled }
            table.transfers[id] = transfer
            transfer.isEntered = true
            guard case .lookingUp = transfer.phase else { return .settled }
            return .waiting(isStopping: table.isStopping)
        }
        switch entered {
        case .settled: break
        case .refused(let error): throw error
        case .waiting(let isStopping): wait(transfer, isStopping: isStopping)
        }
        return id
    }

    private enum Entered {
        /// The transfer has ended, or the transport beneath has it.
        case settled
        case refused(ErrandError)
        /// The transfer waits for the store.
        case waiting(isStopping: Bool)
    }

    // MARK: Before the network

    /// `known`: the result of a read under `key` that was made after `moment`; `nil` if nothing was read.
    private func lookUp(
        _ transfer: CacheTransfer, _ key: CacheKey?, _ known: CacheStoreQueue.AtOnce?, at moment: UInt64
    ) {
        let description = transfer.description
        guard let plan = transfer.plan else { return send(transfer, .none) }
        guard let key else {
            guard plan.reading != .cacheOnly else { return end(transfer, with: .cacheMiss(.notCached)) }
            let isCacheable = plan.members.isTimed || description.method == .get || description.method == .head
            return send(transfer, .passed(plan, isCacheable ? .bypass : .method))
        }
        if plan.members.isTimed {
            lookUpTimed(transfer, plan, key, known, at: moment)
        } else {
            lookUpHTTP(transfer, plan, key, known, at: moment)
        }
    }

    private func lookUpTimed(
        _ transfer: CacheTransfer, _ plan: ResponseCachePlan, _ key: CacheKey, _ known: CacheStoreQueue.AtOnce?,
        at moment: UInt64
    ) {
        // The response of a redirect hop is stored under the key of the run's first URL.
        let first = plan.run.first(key, transfer.description, isHop: plan.isHop)
        let exchange = TimedExchange(
            plan: plan, key: first.key, description: first.description, moment: moment)
        guard !plan.isHop, !plan.isSecond, plan.reading != .networkOnly else {
            // The target of a stored redirect is not stored under its own key, and the target must not be requested.
            guard plan.reading != .cacheOnly else { return end(transfer, with: .cacheMiss(.notStored)) }
            return send(transfer, .timed(exchange))
        }
        begin(exchange, known ?? cache.queue.readAtOnce(exchange.key)) { self.act($0, on: transfer) }
    }

    /// `known`: the result of the read under the exchange's key.
    private func begin(
        _ exchange: TimedExchange, _ known: CacheStoreQueue.AtOnce, _ then: @escaping @Sendable (CacheAction) -> Void
    ) {
        let found = { @Sendable [cache] (record: CacheRecord?) in
            var exchange = exchange
            then(exchange.begin(record, now: cache.now))
        }
        switch known {
        case .known(let record): found(record)
        case .later: cache.queue.readLater(exchange.key, found)
        }
    }

    private func lookUpHTTP(
        _ transfer: CacheTransfer, _ plan: ResponseCachePlan, _ key: CacheKey, _ known: CacheStoreQueue.AtOnce?,
        at moment: UInt64
    ) {
        cache.willHoldHTTP()
        let isUnread = plan.reading == .networkOnly || (plan.isSecond && plan.reading == .cacheElseNetwork)
        guard !isUnread else {
            let exchange = HTTPExchange(
                plan, transfer.description, HTTPStoredSet(primary: key, moment: moment),
                hasHiddenCookies: hasHiddenCookies(transfer.description))
            return send(transfer, .http(exchange, conditions: [:]))
        }
        beginHTTP(plan, transfer.description, key, known ?? cache.queue.readAtOnce(key), at: moment) {
            self.act($0, on: transfer)
        }
    }

    private func beginHTTP(
        _ plan: ResponseCachePlan, _ description: RequestDescription, _ key: CacheKey, _ known: CacheStoreQueue.AtOnce,
        at moment: UInt64, _ then: @escaping @Sendable (CacheAction) -> Void
    ) {
        let hasHiddenCookies = hasHiddenCookies(description)
        HTTPStoredSet.read(key, known, at: moment, for: description.headers, from: cache) { [cache] set in
            var exchange = HTTPExchange(plan, description, set, hasHiddenCookies: hasHiddenCookies)
            then(exchange.begin(now: cache.now))
        }
    }

    /// Finds the stored response for a description whose plan sends nothing. Needs no transfer.
    package func find(
        _ description: RequestDescription, _ then: @escaping @Sendable (Result<Response, CacheMiss>) -> Void
    ) {
        guard let plan = description.responseCachePlan, let key = plan.key(for: description, identity: identity) else {
            return then(.failure(.notCached))
        }
        let found = { @Sendable (action: CacheAction) in
            switch action {
            case .serve(let response, .stored, _): then(.success(response))
            case .fail(let miss): then(.failure(miss))
            // The cache's own 504 is not a stored response.
            case .serve, .ask: then(.failure(.expired))
            }
        }
        let moment = cache.changes.moment
        let known = cache.queue.readAtOnce(key)
        guard plan.members.isTimed else { return beginHTTP(plan, description, key, known, at: moment, found) }
        begin(TimedExchange(plan: plan, key: key, description: description, moment: moment), known, found)
    }

    package func hasHiddenCookies(_ description: RequestDescription) -> Bool {
        identity.hasJar && !description.options.contains(.withoutCookies)
    }

    private func act(_ action: CacheAction, on transfer: CacheTransfer) {
        switch action {
        case .serve(let response, let source, let revalidation):
            perform(table.withLock { _ in transfer.found(response, source) }, on: transfer)
            if let revalidation { revalidate(transfer, revalidation) }
        case .ask(let question): send(transfer, question)
        case .fail(let miss): end(transfer, with: .cacheMiss(miss))
        }
    }

    /// A lookup that continues after `submit` counts towards the total time, and ends when the client stops.
    private func wait(_ transfer: CacheTransfer, isStopping: Bool) {
        if isStopping { return end(transfer, with: .cancelled) }
        guard let total = transfer.description.settings.timeouts.total?.duration else { return }
        let now = stopwatch.now()
        let timer = Task { [self] in
            guard (try? await stopwatch.sleep(for: total)) != nil else { return }
            end(transfer, with: .timeoutTotal)
        }
        let isWaiting = table.withLock { _ in
            switch transfer.phase {
            case .lookingUp, .held:
                transfer.waitsSince = now
                transfer.timer = timer
                return true
            case .sent, .over:
                return false
            }
        }
        if !isWaiting { timer.cancel() }
    }

    /// Ends a transfer that was not sent yet.
    private func end(_ transfer: CacheTransfer, with error: ErrandError) {
        let isEnding = table.withLock { table in
            switch transfer.phase {
            case .lookingUp, .held: break
            case .sent, .over: return false
            }
            transfer.phase = .over
            table.transfers[transfer.id] = nil
            return true
        }
        if isEnding { report(transfer, .failure(error)) }
    }

    private func report(_ transfer: CacheTransfer, _ result: TransferResult) {
        table.withLock { _ in transfer.timer.take() }?.cancel()
        guard let receiver = transfer.receiver else { return }
        TransferReceiver.deliver(CollectionOfOne(TransferEvent(receiver, .ended(result))))
    }

    // MARK: The network

    private func send(_ transfer: CacheTransfer, _ question: CacheQuestion) {
        let now = cache.now
        let (submission, since, timer) = table.withLock { _ in
            let submission = transfer.willSubmit(question, requestedAt: now)
            return (submission, transfer.waitsSince, transfer.timer.take())
        }
        timer?.cancel()
        guard let submission else { return }
        var description = transfer.description
        description.headers = question.headers(of: description)
        open(transfer, description, for: question, at: now, since: since, submission)
    }

    /// `since`: the time since then counts against the total time.
    private func open(
        _ transfer: CacheTransfer, _ description: RequestDescription, for question: CacheQuestion, at now: Int64,
        since: Duration?, _ submission: Int
    ) {
        do throws(ErrandError) {
            var description = description
            // A request submitted after a removal must not join a transfer that was sent before it: that transfer may
            // return the removed response.
            if transfer.base is CoalescingTransport, transfer.plan != nil {
                description.sendingMoment = SendingMoment(
                    time: now, removals: question.removalNames.map(cache.changes.lastRemoval) ?? 0)
            }
            if let since, let total = description.settings.timeouts.total?.duration {
                let left = total - (stopwatch.now() - since)
                guard left > .zero else { throw .timeoutTotal }
                description.settings = try description.settings.with(total: left)
            }
            transfer.sendsItself()
            let id = try transfer.base.submit(description, for: transfer)
            perform(table.withLock { _ in transfer.opened(id, submission: submission) }, on: transfer)
        } catch {
            let isEntered = table.withLock { table in
                transfer.phase = .over
                table.transfers[transfer.id] = nil
                if !transfer.isEntered { transfer.refusal = error }
                return transfer.isEntered
            }
            if isEntered || transfer.receiver == nil { failed(transfer, error) }
        }
    }

    private func failed(_ transfer: CacheTransfer, _ error: ErrandError) {
        guard let receiver = transfer.receiver else { return revalidated(transfer) }
        guard table.withLock({ _ in transfer.isAskedAgain }) else {
            return report(transfer, .failure(error == .timeoutTotal ? error : error.refused))
        }
        TransferReceiver.deliver(CollectionOfOne(TransferEvent(receiver, .notResent(.revalidation))))
        report(transfer, .failure(error.ofSecondQuestion))
    }

    /// Called on the queue of the transfer's receiver.
    func ended(_ transfer: CacheTransfer, with result: TransferResult) {
        let (question, own, isAgain) = table.withLock { _ in
            (transfer.question, transfer.requestedAt, transfer.isAskedAgain)
        }
        var result = result
        if isAgain, case .failure(let error) = result, error.isRefusal {
            transfer.receiver?.receive(.notResent(.revalidation))
            result = .failure(error.ofSecondQuestion)
        }
        let isCollapsed = transfer.isCollapsed
        let requestedAt = transfer.sentAt(own: own)
        let reply: CacheReply =
            switch question {
            case .none: .deliver(result, .network)
            case .passed(let plan, let forward):
                .deliver(plan.marked(result, forward, isCollapsed: isCollapsed), .network)
            case .timed(let exchange):
                exchange.waiting(isCollapsed).ended(result, requestedAt: requestedAt, now: cache.now)
            case .http(let exchange, _):
                exchange.waiting(isCollapsed).ended(result, requestedAt: requestedAt, now: cache.now)
            }
        switch reply {
        case .askAgain:
            askAgain(transfer, question)
        case .deliver(let result, let source, let timed):
            table.withLock { table in
                transfer.phase = .over
                table.transfers[transfer.id] = nil
            }
            guard let receiver = transfer.receiver else { return revalidated(transfer) }
            transfer.plan?.run.ended(source, timed: timed)
            receiver.receive(.ended(result))
        }
    }

    private func askAgain(_ transfer: CacheTransfer, _ question: CacheQuestion) {
        guard case .http(var exchange, _) = question else { return }
        // The stored response is outdated.
        exchange.decision = .miss(.unusable)
        let next = CacheQuestion.http(exchange, conditions: [:])
        let now = cache.now
        let submission = table.withLock { table -> Int? in
            transfer.question = next
            transfer.isAskedAgain = true
            // The end of the transfer may have come before `submit` returned.
            transfer.isEntered = true
            let submission = transfer.willSubmitAgain(requestedAt: now)
            if submission == nil {
                transfer.phase = .over
                table.transfers[transfer.id] = nil
            }
            return submission
        }
        guard let submission else {
            if transfer.receiver == nil { return revalidated(transfer) }
            return report(transfer, .failure(.cancelled))
        }
        var description = transfer.description
        description.payment = .charge
        transfer.receiver?.receive(.resending(.revalidation))
        open(transfer, description, for: next, at: now, since: nil, submission)
    }

    // MARK: In the background

    /// If several revalidations of the same key are due at the same time, only the first is sent.
    private func revalidate(_ served: CacheTransfer, _ question: CacheQuestion) {
        guard case .http(let exchange, _) = question else { return }
        let key = exchange.set.primary
        let isFirst = table.withLock { $0.isStopping ? false : $0.revalidated.insert(key).inserted }
        guard isFirst else { return }
        var description = served.description
        description.reports = []
        if let scope = description.attemptScope { description.attemptScope = scope.background() }
        let transfer = CacheTransfer(
            TransferID(rawValue: lastID.wrappingAdd(1, ordering: .relaxed).newValue), description, served.plan,
            for: nil,
            over: base, of: self, callbacks: background)
        send(transfer, question)
    }

    private func revalidated(_ transfer: CacheTransfer) {
        table.withLock { table in
            guard case .http(let exchange, _) = transfer.question else { return }
            table.revalidated.remove(exchange.set.primary)
        }
    }

    // MARK: Orders

    private func perform(_ first: CacheTransfer.Control, on transfer: CacheTransfer) {
        var control = first
        while true {
            switch control {
            case .none, .order(.none): return
            case .order(let order):
                transfer.base.perform(order)
                control = table.withLock { _ in transfer.performed(order) }
            case .end: return forget(transfer, .failure(.cancelled))
            case .deliver(let response, let source):
                transfer.plan?.run.ended(source)
                return forget(transfer, .response(response))
            }
        }
    }

    private func forget(_ transfer: CacheTransfer, _ result: TransferResult) {
        table.withLock { $0.transfers[transfer.id] = nil }
        report(transfer, result)
    }

    private func control(_ id: TransferID, _ decide: (CacheTransfer) -> CacheTransfer.Control) {
        let (found, control) = table.withLock { table -> (CacheTransfer?, CacheTransfer.Control) in
            guard let transfer = table.transfers[id] else { return (nil, .none) }
            return (transfer, decide(transfer))
        }
        if let found { perform(control, on: found) }
    }

    package func cancel(_ id: TransferID) { control(id) { $0.cancelRequested() } }
    package func pause(_ id: TransferID) { control(id) { $0.setPaused(true) } }
    package func resume(_ id: TransferID) { control(id) { $0.setPaused(false) } }

    private func beneath(_ id: TransferID) -> (transport: any Transport, id: TransferID)? {
        table.withLock { table in
            table.transfers[id].flatMap { found in found.baseID.map { (transport: found.base, id: $0) } }
        }
    }

    package func grant(_ id: TransferID, bytes: Int) {
        if let beneath = beneath(id) { beneath.transport.grant(beneath.id, bytes: bytes) }
    }

    package func write(_ bytes: UnsafeRawBufferPointer, to id: TransferID) {
        if let beneath = beneath(id) { beneath.transport.write(bytes, to: beneath.id) }
    }

    package func write(shared bytes: SharedBytes, to id: TransferID) {
        if let beneath = beneath(id) { beneath.transport.write(shared: bytes, to: beneath.id) }
    }

    package func finishUpload(_ id: TransferID) {
        if let beneath = beneath(id) { beneath.transport.finishUpload(beneath.id) }
    }

    package func failUpload(_ id: TransferID) {
        if let beneath = beneath(id) { beneath.transport.failUpload(beneath.id) }
    }

    package func restartUpload(_ id: TransferID, after attempt: Int) {
        if let beneath = beneath(id) { beneath.transport.restartUpload(beneath.id, after: attempt) }
    }

    /// The client shuts down: this ends transfers that wait for the store. The transport beneath ends the others.
    package func clientStops() {
        let transfers = table.withLock { table in
            table.isStopping = true
            return Array(table.transfers.values)
        }
        for transfer in transfers { end(transfer, with: .cancelled) }
    }

    package func shutdown(_ stopped: @escaping @Sendable () -> Void) {
        clientStops()
        base.shutdown(stopped)
    }

    package func filesMayHaveChanged() { base.filesMayHaveChanged() }
}

extension CacheCarrier {
    package var carrier: any Transport { self }

    package var mayHoldHTTP: Bool { cache.mayHoldHTTP }

    package func invalidate(after response: Response, to sent: RequestDescription, by policy: CachePolicy?) {
        guard !HTTPCacheInvalidation.isSafe(sent.method), (200...399).contains(response.statusCode),
            !response.isFromCache
        else { return }
        let urls = HTTPCacheInvalidation.urls(
            method: sent.method, url: sent.url, statusCode: response.statusCode, headers: response.headers)
        guard let members = policy?.box?.members else { return cache.invalidate(urls) }
        let known = urls.map { members.keyURL(of: $0) }
        cache.invalidate(urls + known.filter { !urls.contains($0) })
    }

    package func flush(atMost time: Duration, by stopwatch: Stopwatch, _ flushed: @escaping @Sendable () -> Void) {
        cache.queue.flush(atMost: time, by: stopwatch, flushed)
    }
}

extension ErrandError {
    /// The error of a resend that was not sent. The first request was sent.
    fileprivate var ofSecondQuestion: ErrandError { with(isRefusal: false, followsSends: true) }
}
