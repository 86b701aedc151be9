/// A client's share of a ``SharedEngine``. The share is given back at the end of the client's shutdown, or when the
/// client is released.
final class EngineLease: Sendable {
    let transport: ReactorTransport
    private let engine: SharedEngine
    /// The engine before this one, if both have their cookies in a file.
    private let former: ReactorTransport?
    private let number: UInt64
    private let run: UInt64

    init(
        of engine: SharedEngine, _ transport: ReactorTransport, after former: ReactorTransport?, number: UInt64,
        run: UInt64
    ) {
        self.engine = engine
        self.transport = transport
        self.former = former
        self.number = number
        self.run = run
    }

    deinit {
        // The release of the transport would stop the engine as well. But the program may still hold clients that were
        // shut down, and they hold the transport. A stop returns at once: this may be a loop thread.
        if engine.leave(number, run: run) { stop {} }
    }

    /// Gives the share back. `stopped` is called at once; for the last client it is called when the engine's threads have
    /// ended. This method may be called again, and then `stopped` of each call is called.
    func end(_ stopped: @escaping @Sendable () -> Void) {
        if engine.leave(number, run: run) {
            stop(stopped)
        } else {
            stopped()
        }
    }

    /// Stops the engine after the engine before it has ended. Each engine writes its cookies when it ends, and the newer
    /// cookies must be written last.
    private func stop(_ stopped: @escaping @Sendable () -> Void) {
        let (transport, engine) = (transport, engine)
        // The engine is held until its cookies are written. Until then its name must lead to the object that knows the
        // engine, although no client and no other reference may be left: the next client under that name waits for the
        // engine before it reads the file.
        let ended: @Sendable () -> Void = {
            stopped()
            withExtendedLifetime(engine) {}
        }
        guard let former else { return transport.shutdown(ended) }
        former.shutdown { transport.shutdown(ended) }
    }
}
