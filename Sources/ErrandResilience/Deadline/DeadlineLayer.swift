/// Limits the requests of a client to the time that their task has left. It adds no transport between the client and
/// its engine.
struct DeadlineLayer: TransportLayer {
    var position: TransportLayerPosition { .resilience }

    var timeLeftOfTask: (@Sendable () -> Duration?)? {
        return { @Sendable in Deadline.current?.remaining() }
    }

    func makeTransport(over base: any Transport, of client: TransportLayerContext) -> any Transport {
        Deadline.passOn()
        return base
    }
}

extension Client.Configuration {
    /// Whether the client's requests obey the ``Deadline`` of the task that starts them, even without retries, breakers
    /// and limits. False by default: a task's deadline then has an effect only with ``resilience``, whatever is set
    /// there. Read when a client is made.
    ///
    /// A request takes the time that its task has left as its ``Timeouts/total``, if that is shorter, and fails with
    /// ``ErrandError/deadlineExceeded`` if no time is left. The cost is one lookup of a task-local value for each
    /// request.
    public var obeysDeadlines: Bool {
        get { layers.contains { $0 is DeadlineLayer } }
        set {
            layers.removeAll { $0 is DeadlineLayer }
            if newValue { layers.append(DeadlineLayer()) }
        }
    }
}
