import Synchronization

/// What the task that starts a group passes on to the children: the credential refreshes and the interceptors that wait
/// for the group, and the task's deadline. Children are started by other threads too, when callbacks or timers start
/// them.
package struct CallerScope: Sendable {
    private var refreshes: Set<ObjectIdentifier> = []
    private var interceptors = InterceptionScope()
    /// `nil`: no client obeys deadlines.
    private var deadline: TaskDeadlines.Scope?

    /// The scope of a task that nobody waits for.
    package init() {}

    /// The scope of the present task.
    package static var current: CallerScope {
        var scope = CallerScope()
        scope.refreshes = RefreshScope.current
        scope.interceptors = InterceptionScope.current
        scope.deadline = TaskDeadlines.known?.present()
        return scope
    }

    private var isEmpty: Bool { refreshes.isEmpty && interceptors.isEmpty }

    /// Calls `start` in this scope. The present task may have another one: an inline callback queue runs callbacks of
    /// all requests in the task of any of them.
    package func apply(_ start: () -> Void) {
        guard let deadline else { return applyRest(start) }
        deadline { applyRest(start) }
    }

    private func applyRest(_ start: () -> Void) {
        if isEmpty, Self.current.isEmpty { return start() }
        RefreshScope.$current.withValue(refreshes) {
            InterceptionScope.$current.withValue(interceptors) { start() }
        }
    }
}

/// How to read and set the deadline of a task. The module that has deadlines registers this when a client that obeys them
/// is made. Any thread.
package struct TaskDeadlines: Sendable {
    /// Calls a function with a deadline, or without one.
    package typealias Scope = @Sendable (() -> Void) -> Void

    private static let told = Mutex<TaskDeadlines?>(nil)

    /// The deadline of the present task.
    let present: @Sendable () -> Scope
    /// No deadline.
    let none: Scope

    package init(present: @escaping @Sendable () -> Scope, none: @escaping Scope) {
        self.present = present
        self.none = none
    }

    /// `nil`: no client obeys deadlines.
    static var known: TaskDeadlines? { told.withLock { $0 } }

    /// Registers these functions; they are used from now on.
    package func tell() { Self.told.withLock { $0 = self } }

    /// Calls `start` without the deadline of the present task, which may be that of another request.
    static func without(_ start: () -> Void) {
        guard let known else { return start() }
        known.none(start)
    }
}
