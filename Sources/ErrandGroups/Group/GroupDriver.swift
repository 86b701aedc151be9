import Synchronization

/// Runs a group's children for its request: the common part of batches, chains and graphs.
///
/// Not generic: generic code would look up the types of the locked state at run time, for each child.
///
/// The machine decides under the lock. Children are made, started and stopped, and ends are delivered, after the lock
/// is released. A child is registered before it is started and checked once more after the start: a stop that came in
/// between found no started child. Stop and pause apply only to the run that the group has started; the user may run
/// the same request before and after.
///
/// `@unchecked Sendable`: all mutable state is in the mutex; state that subclasses add is read and written only while
/// the mutex is held.
class GroupDriver: GroupCarrier, @unchecked Sendable {
    struct Core: ~Copyable {
        /// The number of the present run: tells a late end of an earlier run from an end of this one.
        var run: UInt64 = 0
        var parent: AnyRequest?
        /// The scope of the task that started the run; all children have it, too.
        var scope = CallerScope()
        /// What observers of attempts know of the group's run: its span is the parent of the children's spans.
        var attempts: AttemptScope?
        var isPaused = false
        var depth = 0
        var running: [Int: GroupChild] = [:]
        /// Children to be started by the thread that is starting children. Starting them from a nested call would grow
        /// the stack if children end at once.
        var toStart: [Int] = []
        var isStarting = false
        /// The child that failed the run.
        var failed: AnyRequest?
        var endedCount = 0
        /// Whether `report` is to be called for each child.
        var isRead = false
        /// Whether all results so far came from a cache.
        var isFromCache = true
        var timer: Task<Void, Never>?
        var delay: Task<Void, Never>?
    }

    let core = Mutex(Core())
    /// The machine of batches and graphs; a chain has its own. Read and written only inside `core.withLock`.
    final nonisolated(unsafe) var machine = GroupStateMachine()

    // MARK: Overridden by a chain: its machine, called while `core` is locked

    /// A child of the present run has ended, by itself or because it was stopped.
    func childEnded(_ index: Int, succeeded: Bool) -> GroupAction { machine.childEnded(index, succeeded: succeeded) }

    func stopRequested(_ ending: GroupEnding) -> GroupAction { machine.stopRequested(ending) }

    /// Whether a child that `start` named is still to be started; the child counts as running until it has ended.
    var mayStart: Bool { machine.mayStart }

    // MARK: Overridden by each kind of group: the rest

    /// The value of a run that has succeeded; `nil` before.
    package func value() -> (any Sendable)? { nil }

    /// The results of the children of the present or last run.
    package var results: GroupResults { GroupResults() }

    /// Throws the error that keeps the group from running; nothing has been sent then.
    func check() throws(ErrandError) {}

    /// A new run begins: clears the state of the last run. Called while `core` is locked.
    func began() -> GroupAction { .end(.succeeded) }

    /// Takes the results of the last run out of the state. The caller releases them after the lock, because values and
    /// errors may belong to the user. Called while `core` is locked.
    func takeResults() -> any Sendable { () }

    /// The same for state that is not needed after the end of a run.
    func detachState() -> any Sendable { () }

    /// Makes a child, outside the lock because this runs user code. Throws the error with which the child fails instead
    /// of starting.
    func child(_ index: Int, by client: Client) throws(ErrandError) -> GroupChild { throw .internalFailure }

    /// Keeps the error of a child that was not started.
    func keep(_ error: ErrandError, of index: Int) {}

    /// Asks the user for a decision. On the callback queue.
    func ask(_ index: Int, _ run: UInt64) {}

    /// The error of a run that failed because of this child. Called while `core` is locked.
    func failure(by index: Int) -> ErrandError { .internalFailure }

    /// The number of children; `nil` if it is not known.
    var count: Int? { nil }

    /// Whether the children run one after another, so that a success replaces an earlier failure.
    var isSequence: Bool { false }

    /// A child's end has been recorded. On the callback queue; only if `isRead`.
    func report(_ index: Int) {}

    /// The delay of a `wait` has passed. Returns whether the child is to be started. Called while `core` is locked.
    func delayElapsed() -> Bool { false }

    // MARK: What the group's request shows

    final var children: [AnyRequest] {
        core.withLock { $0.running }.sorted { $0.key < $1.key }.map(\.value.request)
    }

    final var failedRequest: AnyRequest? { core.withLock { $0.failed } }

    final var isFromCache: Bool { core.withLock { $0.isFromCache && $0.endedCount > 0 } }

    final var depth: Int {
        get { core.withLock { $0.depth } }
        set { core.withLock { $0.depth = newValue } }
    }

    /// The largest depth of nested groups. A group starts its children on the thread that starts the group, so the
    /// calls of nested groups are nested on one stack.
    private static let maximumDepth = 200

    // MARK: Calls from the request

    final func submit(
        _ description: RequestDescription, for receiver: TransferReceiver
    ) throws(ErrandError) -> TransferID {
        guard let parent = receiver as? AnyRequest else { throw .internalFailure }
        guard depth <= Self.maximumDepth else {
            throw .invalidArgument.with(message: "the groups are nested more than \(Self.maximumDepth) levels deep")
        }
        try check()
        // Released outside the lock: see `takeResults`.
        let left = core.withLock { core -> (AnyRequest?, AnyRequest?, any Sendable) in
            (core.parent.take(), core.failed.take(), takeResults())
        }
        _ = left
        let scope = CallerScope.current
        let (run, action) = core.withLock { core in
            core.run += 1
            core.parent = parent
            core.scope = scope
            core.attempts = description.attemptScope
            core.isPaused = false
            core.endedCount = 0
            core.isFromCache = true
            let action = began()
            return (core.run, action)
        }
        if let total = description.settings.timeouts.total?.duration {
            let clock = parent.client.stopwatch
            let timer = Task { [self] in
                guard (try? await clock.sleep(for: total)) != nil else { return }
                stop(.timedOut, run)
            }
            core.withLock { $0.timer = timer }
        }
        // An earlier stop found no run and is repeated here; a later stop finds the run.
        if parent.isStopped || parent.client.isStopping { stop(.stopped, run) }
        perform(action, run)
        return TransferID(rawValue: run)
    }

    final func cancel(_ id: TransferID) {
        stop(.stopped, id.rawValue)
    }

    final func requestStopped() {
        let (parent, run) = core.withLock { ($0.parent, $0.run) }
        if let parent, parent.isStopped { stop(.stopped, run) }
    }

    final func clientStops() {
        let (parent, run) = core.withLock { ($0.parent, $0.run) }
        if let parent, parent.client.isStopping { stop(.stopped, run) }
    }

    private func stop(_ ending: GroupEnding, _ run: UInt64) {
        perform(core.withLock { $0.run == run ? stopRequested(ending) : .none }, run)
    }

    final func pause(_ id: TransferID) { setPaused(true, id) }

    final func resume(_ id: TransferID) { setPaused(false, id) }

    private func setPaused(_ isPaused: Bool, _ id: TransferID) {
        let children = core.withLock { core -> [GroupChild] in
            guard core.run == id.rawValue else { return [] }
            core.isPaused = isPaused
            return Array(core.running.values)
        }
        for child in children { child.request.setPaused(isPaused, child: child.number) }
    }

    // MARK: Actions of the machine

    final func perform(_ action: GroupAction, _ run: UInt64) {
        switch action {
        case .none:
            break
        case .start(let indices):
            start(indices)
        case .startEach(let indices):
            start(indices)
        case .ask(let index):
            ask(index, run)
        case .wait(let index, let duration):
            wait(index, duration, run)
        case .stopRunning:
            // Not the children of a run that has begun meanwhile.
            let (running, parent) = core.withLock { ($0.run == run ? $0.running : [:], $0.parent) }
            for child in running.sorted(by: { $0.key < $1.key }) { stop(child.value, of: parent) }
        case .end(let ending):
            end(ending)
        }
    }

    private func start(_ indices: some RandomAccessCollection<Int>) {
        let isBusy = core.withLock { core in
            core.toStart += indices
            return core.isStarting.exchange(with: true)
        }
        if !isBusy { startWaiting() }
    }

    /// Starts the waiting children. Children that become ready meanwhile are started later, on the callback queue,
    /// because this thread may be the one that starts the group.
    private func startWaiting() {
        let (next, run, client, scope, attempts) = core.withLock { core in
            if core.toStart.isEmpty { core.isStarting = false }
            return (core.toStart.takeAll(), core.run, core.parent?.client, core.scope, core.attempts)
        }
        guard !next.isEmpty, let client else { return }
        // The callback queue has no task-locals.
        if let attempts {
            attempts.within(.inside) { start(next, run, in: scope) }
        } else {
            start(next, run, in: scope)
        }
        let isOver = core.withLock { core in
            if core.toStart.isEmpty { core.isStarting = false }
            return !core.isStarting
        }
        if !isOver { client.callbacks.async { [self] in startWaiting() } }
    }

    /// Without the scope a child of a refresh would wait for the same refresh that waits for the child, and an
    /// interceptor would intercept the commands of the group that it runs.
    private func start(_ indices: [Int], _ run: UInt64, in scope: CallerScope) {
        scope.apply {
            for index in indices { start(index, run) }
        }
    }

    private func start(_ index: Int, _ run: UInt64) {
        let (parent, mayMake) = core.withLock { ($0.parent, mayStart) }
        guard let parent else { return }
        let client = parent.client
        guard mayMake else { return refuse(index, .cancelled, client, run) }
        let child: GroupChild
        do throws(ErrandError) {
            child = try self.child(index, by: client)
        } catch {
            return refuse(index, error, client, run)
        }
        // A client that is shut down accepts new requests only from its own groups, which need them in order to end.
        if child.request.client !== client, child.request.client.isShutDown {
            return refuse(index, .shutDown, client, run)
        }
        child.request.groupDriver?.depth = depth + 1
        let isWanted = core.withLock { core in
            guard mayStart else { return false }
            core.running[index] = child
            return true
        }
        guard isWanted else { return refuse(index, .cancelled, client, run) }
        let hasStarted = child.start { [self] isSuccess in ended(index, child.request, isSuccess, run) }
        guard hasStarted else {
            core.withLock { $0.running[index] = nil }
            let message = "child \(index) is already running or cannot be started again"
            return refuse(index, .invalidArgument.with(message: message), client, run)
        }
        catchUp(child, index, run, parent)
    }

    /// A pause or a stop that came before the child's start returned had no effect on the child. Checks again after
    /// each call, because another thread's call may have overtaken it.
    private func catchUp(_ child: GroupChild, _ index: Int, _ run: UInt64, _ parent: AnyRequest) {
        var isPaused = false
        while true {
            let (isToBePaused, isStopped) = core.withLock { core -> (Bool, Bool) in
                // The child has ended, and its request may belong to the user again.
                guard core.run == run, core.running[index]?.number == child.number else { return (isPaused, false) }
                return (core.isPaused, !mayStart)
            }
            if isStopped { return stop(child, of: parent) }
            if isToBePaused == isPaused { return }
            isPaused = isToBePaused
            child.request.setPaused(isPaused, child: child.number)
        }
    }

    /// If a child's own client is being shut down, the child reports the shutdown, unless the user stopped the group.
    private func stop(_ child: GroupChild, of parent: AnyRequest?) {
        if child.request.client.isStopping, parent?.isStopped != true { return }
        child.request.stop(child: child.number)
    }

    /// Ends a child without a start. Asynchronous: thousands of such children would otherwise nest their calls on one
    /// stack.
    private func refuse(_ index: Int, _ error: ErrandError, _ client: Client, _ run: UInt64) {
        client.callbacks.async { [self] in
            keep(error, of: index)
            ended(index, nil, false, run)
        }
    }

    /// A child of another client ends on that client's queue; the group handles its end on its own client's queue.
    private func ended(_ index: Int, _ request: AnyRequest?, _ isSuccess: Bool, _ run: UInt64) {
        guard let request, let client = core.withLock({ $0.parent })?.client, client !== request.client else {
            return entered(index, request, isSuccess, run)
        }
        client.callbacks.async { [self] in entered(index, request, isSuccess, run) }
    }

    private func entered(_ index: Int, _ request: AnyRequest?, _ isSuccess: Bool, _ run: UInt64) {
        let isFromCache = request?.isFromCache ?? false
        // Released after the lock: releasing a request may release the user's closures.
        var noted: AnyRequest?
        let (action, parent, endedCount, isRead) = core.withLock { core in
            core.running[index] = nil
            core.endedCount += 1
            core.isFromCache = core.isFromCache && isFromCache
            if isSuccess ? isSequence : mayStart && (isSequence || core.failed == nil) {
                noted = isSuccess ? nil : request
                swap(&noted, &core.failed)
            }
            return (childEnded(index, succeeded: isSuccess), core.parent, core.endedCount, core.isRead)
        }
        _ = noted
        guard let parent else { return }
        if isRead { report(index) }
        parent.notify(.advanced(ended: endedCount, of: count))
        perform(action, run)
    }

    private func wait(_ index: Int, _ duration: Duration, _ run: UInt64) {
        guard let clock = core.withLock({ $0.parent })?.client.stopwatch else { return }
        let delay = Task { [self] in
            guard (try? await clock.sleep(for: min(duration, Duration.longestSleep))) != nil else { return }
            if core.withLock({ $0.run == run && delayElapsed() }) { start(CollectionOfOne(index)) }
        }
        let isWanted = core.withLock { core in
            guard core.run == run, core.parent != nil else { return false }
            core.delay = delay
            return true
        }
        if !isWanted { delay.cancel() }
    }

    private func end(_ ending: GroupEnding) {
        var forgiven: AnyRequest?
        let (parent, timers, failure, left) = core.withLock { core in
            var failure: ErrandError?
            if case .failed(let index) = ending { failure = self.failure(by: index) }
            // This child failed, but the run succeeded all the same.
            if case .succeeded = ending { forgiven = core.failed.take() }
            return (core.parent.take(), [core.timer.take(), core.delay.take()], failure, detachState())
        }
        _ = (left, forgiven)
        for timer in timers { timer?.cancel() }
        guard let parent else { return }
        let result: TransferResult =
            switch ending {
            case .succeeded: .response(Response(statusCode: 0))
            case .failed where parent.client.isStopping, .stopped: .failure(.cancelled)
            case .failed: .failure(failure ?? .internalFailure)
            case .timedOut: .failure(.timeoutTotal)
            }
        TransferReceiver.deliver(CollectionOfOne(TransferEvent(parent, .ended(result))))
    }
}

extension Bool {
    fileprivate mutating func exchange(with new: Bool) -> Bool {
        defer { self = new }
        return self
    }
}

extension [Int] {
    fileprivate mutating func takeAll() -> [Int] {
        var taken: [Int] = []
        swap(&taken, &self)
        return taken
    }
}

/// A request as a group sees it.
struct GroupChild: Sendable {
    let request: AnyRequest
    /// Identifies the run that `start` begins.
    let number = AnyRequest.nextChild
    /// Starts the request; returns false if it already runs. The closure is called once, on the callback queue, after
    /// all other callbacks for the end of the request. Its argument says whether the request succeeded.
    let start: @Sendable (@escaping @Sendable (Bool) -> Void) -> Bool

    /// `keep` receives the child's result before the group is notified.
    init<C: Command>(_ request: Request<C>, keep: @escaping @Sendable (Result<C.Response, ErrandError>) -> Void) {
        self.request = request
        start = { [number] ended in
            request.start(asChild: number) { result in
                keep(result)
                if case .success = result { ended(true) } else { ended(false) }
            }
        }
    }
}
