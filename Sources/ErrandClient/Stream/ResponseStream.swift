import Synchronization

/// Handles the events of a streamed transfer. Delivers the response to the caller as soon as its head is accepted and
/// the interceptors that are asked about it do not want a replay.
final class ResponseStream: Sendable {
    typealias Caller = UnsafeContinuation<StreamedResponse, any Error>

    /// The command that the request is built from.
    let command: any Command
    private let judge: @Sendable (Response) -> HeadVerdict
    let guarded = Mutex(Guarded())

    /// The maximum number of bytes kept of a body that is not streamed to the caller.
    private static let collected = 1 << 20

    /// `judge`: returns the verdict on a head.
    init(_ command: any Command, judge: @escaping @Sendable (Response) -> HeadVerdict) {
        self.command = command
        self.judge = judge
    }

    /// The decision about a redirect at the present head; `nil` if no head was reported.
    var redirect: RedirectRules.Decision? {
        guarded.withLock { guarded in
            switch guarded.state {
            case .collecting(_, let collected): collected.redirect
            case .holding, .delivered: .take
            case .idle, .waiting, .over: nil
            }
        }
    }

    func wait(_ caller: Caller) {
        guarded.withLock { $0.state = .waiting(caller) }
    }

    /// The run continues with another transfer. The state of the last head is dropped, because the next transfer may
    /// end without a head.
    func nextTransfer() {
        let former = guarded.withLock { guarded -> HeldResponse.Question? in
            guard let caller = guarded.state.caller else { return nil }
            defer {
                guarded.state = .waiting(caller)
                guarded.kept = ChunkQueue()
            }
            if case .holding(_, let held) = guarded.state { return held.question }
            return nil
        }
        former?.cancel()
    }

    /// Handles a head. Called on the callback queue.
    func head(_ head: Response, of request: AnyRequest) {
        // If the request was stopped on this queue just before, its head decides nothing.
        guard guarded.withLock({ $0.state.caller != nil }), !request.core.withLock({ $0.machine.isStopped }) else {
            return
        }
        // User code, therefore called before the lock.
        let verdict = judge(head)
        perform(
            of: request,
            guarded.withLock { guarded in
                guard let caller = guarded.state.caller else { return .none }
                guarded.kept = ChunkQueue()
                guarded.head += 1
                (guarded.length, guarded.received) = (head.streamedLength, 0)
                switch verdict {
                case .redirect(let decision):
                    guarded.state = .collecting(caller, Collected(head: head, redirect: decision))
                    return .none
                case .refused:
                    guarded.state = .collecting(caller, Collected(head: head, redirect: .take))
                    return .none
                case .accepted(nil):
                    return Self.deliver(head, to: caller, &guarded)
                case .accepted(let interception?):
                    let held = HeldResponse(head: head, number: guarded.head, interception: interception)
                    guarded.state = .holding(caller, held)
                    // Interceptors are asked about a success at once: its body is usually not small and rarely matters
                    // for a replay.
                    return held.isAskedAtOnce ? .ask(head: guarded.head) : .askLater(head: guarded.head)
                }
            })
    }

    static func deliver(_ head: Response, to caller: Caller, _ guarded: inout Guarded) -> Order {
        let channel = BodyChannel(kept: guarded.kept)
        guarded.kept = ChunkQueue()
        guarded.state = .delivered(channel, head)
        if guarded.length == guarded.received { channel.becameWhole() }
        return .deliver(caller, channel, head, isWhole: guarded.length == guarded.received)
    }

    /// Handles a chunk. Called on the callback queue.
    func chunk(_ chunk: Response, of request: AnyRequest) {
        let order = guarded.withLock { guarded -> Order in
            guarded.received += Int64(chunk.body.count)
            switch guarded.state {
            case .delivered(let channel, _):
                return .push(channel, isLast: guarded.length == guarded.received)
            case .collecting(let caller, var collected):
                let room = Self.collected - guarded.kept.count
                guard chunk.body.count > room else {
                    guarded.kept.append(chunk)
                    return .grant
                }
                if room > 0 {
                    guarded.kept.append(Response(statusCode: 0, body: chunk.body.withBytes { [UInt8]($0[..<room]) }))
                }
                collected.isCut = true
                guarded.state = .collecting(caller, collected)
                return .cut
            case .holding(_, let held):
                guarded.kept.append(chunk)
                let isAsked = guarded.kept.count >= HeldResponse.small && held.question.isOpen
                return isAsked ? .ask(head: guarded.head) : .none
            case .idle, .waiting, .over:
                return .grant
            }
        }
        switch order {
        case .push(let channel, let isLast):
            if isLast { channel.becameWhole() }
            channel.push(chunk)
            if isLast { reportEnd(channel, of: request) }
        case .grant: request.grant(chunk.body.count)
        default: perform(of: request, order)
        }
    }

    func perform(of request: AnyRequest, _ order: Order) {
        switch order {
        case .none, .push, .grant:
            break
        case .deliver(let caller, let channel, let head, let isWhole):
            request.contextScope?.streamBegan()
            if isWhole { reportEnd(channel, of: request) }
            let body = ResponseBodyStream(source: .init(channel, of: request))
            caller.resume(returning: StreamedResponse(head: head, body: body))
        case .cut:
            request.cutTransfer(of: self)
        case .ask(let number):
            ask(number, of: request)
        case .askLater(let number):
            let timer = Task { [self] in
                guard (try? await request.client.clock.sleep(for: HeldResponse.patience)) != nil else { return }
                ask(number, of: request)
            }
            let isWanted = guarded.withLock { guarded in
                guarded.changeHeld(number) { held in
                    if held.question.isOpen { held.question = .timed(timer) }
                    return held.question.isOpen
                }
            }
            if isWanted != true { timer.cancel() }
        }
    }
}
