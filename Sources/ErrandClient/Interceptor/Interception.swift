import Synchronization

/// Connects the interceptors of one run, which share one task, with the request. Either the request waits for the
/// interceptors, or they wait for the request.
///
/// The innermost `next` hands its description to the request and waits. The request takes it in an asynchronous step
/// (``order()``), sends it, and returns the result in another step (``order(after:at:)``). So a run has one task of
/// interceptors through all its transfers, and a step of the request waits only while interceptors run.
///
/// Every wait ends: `next` and the step stop waiting at the latest when the run is closed (``close()``).
final class Interception: Sendable {
    /// An order of the interceptors to the request.
    enum Order: Sendable {
        /// Send this, and return the result. `call` numbers the calls of the innermost `next`.
        case send(RequestDescription, call: Int)
        /// The interceptors have ended.
        case ended(TransferResult)
    }

    fileprivate struct Guarded: ~Copyable {
        var machine = InterceptionStateMachine()
        /// The description of a call that was not taken yet, or the result of the interceptors.
        var order: Order?
        /// The call of `next` that waits for its result.
        var next: UnsafeContinuation<TransferResult, Never>?
        /// The step that waits for an order.
        var step: UnsafeContinuation<Order, Never>?
        var task: Task<Void, Never>?
    }

    private let guarded = Mutex(Guarded())
    private let chain: InterceptorChain
    /// Cancels the transfer of that call of `next`.
    private let cut: @Sendable (Interception, Int) -> Void

    init(_ chain: InterceptorChain, cut: @escaping @Sendable (Interception, Int) -> Void) {
        self.chain = chain
        self.cut = cut
    }

    private var progress: InterceptionProgress { chain.context.progress }

    /// Whether the run ended with the error of a `transform`.
    var isTransformFailed: Bool { progress.isTransformFailed }

    /// Starts the interceptors. Called once, in a task with the task-local values of the request's caller.
    func begin(_ description: RequestDescription) {
        let innermost = InterceptorChain.Innermost(
            send: { [self] in await send($0) }, abandon: { [self] in giveUp(nil) })
        let task = Task { [self] in
            ended(await chain.run(description, innermost))
        }
        let isWanted = guarded.withLock { guarded in
            guard guarded.machine.state != .closed else { return false }
            guarded.task = task
            return true
        }
        if !isWanted { task.cancel() }
    }

    // MARK: The request's side

    /// Waits for the next order of the interceptors.
    func order() async -> Order {
        await withUnsafeContinuation { step in
            let order = guarded.withLock { guarded -> Order? in
                if let order = guarded.takeOrder() { return order }
                // An end is reported once.
                guard !guarded.machine.isOver else { return .ended(.failure(.cancelled)) }
                guarded.step = step
                return nil
            }
            if let order { step.resume(returning: order) }
        }
    }

    /// Returns the result of a transfer from `next`, and waits for the next order of the interceptors. `url`: the last
    /// URL of the transfer.
    func order(after result: TransferResult, at url: String?) async -> Order {
        progress.transferEnded(result, at: url)
        let (action, next) = guarded.withLock {
            guarded -> (InterceptionStateMachine.ResultAction, UnsafeContinuation<TransferResult, Never>?) in
            let action = guarded.machine.resultArrived()
            return (action, action == .resume ? guarded.next.take() : nil)
        }
        // The call that waits was made before this end, so it was not counted as a replay.
        if action == .replace { progress.replayDecided() }
        next?.resume(returning: result)
        return await order()
    }

    /// Whether nobody waits for the response to this call any more.
    func isGivenUp(_ call: Int) -> Bool { guarded.withLock { $0.machine.isGivenUp(call) } }

    /// The run does not need the interceptors any more: their task is cancelled without waiting for it, no further
    /// interceptor is called, and every wait here ends.
    func close() {
        progress.close()
        let (next, step, task, order) = guarded.withLock { guarded in
            guarded.machine.closed()
            return (guarded.next.take(), guarded.step.take(), guarded.task.take(), guarded.order.take())
        }
        next?.resume(returning: .failure(.cancelled))
        step?.resume(returning: .ended(.failure(.cancelled)))
        task?.cancel()
        // The order is released here, not under the lock.
        withExtendedLifetime(order) {}
    }

    // MARK: The interceptors' side

    /// The innermost `next`.
    private func send(_ description: RequestDescription) async -> TransferResult {
        let (action, abandoned) = guarded.withLock {
            guarded -> (InterceptionStateMachine.NextAction, UnsafeContinuation<TransferResult, Never>?) in
            let action = guarded.machine.nextCalled()
            guard case .ask = action else { return (action, nil) }
            // The previous call, whose transfer has not ended yet. Its interceptor has returned.
            return (action, guarded.next.take())
        }
        abandoned?.resume(returning: .failure(.cancelled))
        switch action {
        case .refuseConcurrent:
            return .failure(InterceptionMisuse.concurrentCalls.error())
        case .refuseLate:
            return .failure(.cancelled)
        case .ask(let call):
            return await withTaskCancellationHandler {
                await withUnsafeContinuation { offer(description, call, $0) }
            } onCancel: {
                giveUp(call)
            }
        }
    }

    private func offer(
        _ description: RequestDescription, _ call: Int, _ next: UnsafeContinuation<TransferResult, Never>
    ) {
        let (isWithdrawn, step, order) = guarded.withLock {
            guarded -> (Bool, UnsafeContinuation<Order, Never>?, Order?) in
            // If the task was cancelled before, it has withdrawn the call already.
            guard guarded.machine.isAsking(call) else { return (true, nil, nil) }
            guarded.next = next
            guarded.order = .send(description, call: call)
            guard let step = guarded.step.take() else { return (false, nil, nil) }
            return (false, step, guarded.takeOrder())
        }
        if isWithdrawn { next.resume(returning: .failure(.cancelled)) }
        if let step, let order { step.resume(returning: order) }
    }

    private func giveUp(_ call: Int?) {
        let (action, next, order) = guarded.withLock {
            guarded -> (InterceptionStateMachine.GiveUpAction, UnsafeContinuation<TransferResult, Never>?, Order?) in
            let action = guarded.machine.gaveUp(call)
            guard action == .withdraw else { return (action, nil, nil) }
            return (action, guarded.next.take(), guarded.order.take())
        }
        // The order is released here, not under the lock.
        withExtendedLifetime(order) {}
        next?.resume(returning: .failure(.cancelled))
        if case .cut(let call) = action { cut(self, call) }
    }

    private func ended(_ result: TransferResult) {
        let (action, next, step, former) = guarded.withLock { guarded in
            let action = guarded.machine.interceptorsEnded()
            var next: UnsafeContinuation<TransferResult, Never>?
            var step: UnsafeContinuation<Order, Never>?
            var former: Order?
            switch action {
            case .report:
                step = guarded.step.take()
            case .reportAndWithdraw:
                next = guarded.next.take()
                step = guarded.step.take()
                former = guarded.order.take()
            case .cut:
                // The call that nobody waits for. Its transfer ends later.
                next = guarded.next.take()
                former = guarded.order.take()
            case .ignore:
                break
            }
            if action != .ignore { guarded.task = nil }
            if action != .ignore, step == nil { guarded.order = .ended(result) }
            return (action, next, step, former)
        }
        withExtendedLifetime(former) {}
        next?.resume(returning: .failure(.cancelled))
        step?.resume(returning: .ended(result))
        if case .cut(let call) = action { cut(self, call) }
    }
}

extension Interception.Guarded {
    /// The order that the request may take now.
    fileprivate mutating func takeOrder() -> Interception.Order? {
        switch order {
        case .send(_, let call): guard machine.taken(call) else { return nil }
        case .ended: guard machine.state == .ended else { return nil }
        case nil: return nil
        }
        return order.take()
    }
}
