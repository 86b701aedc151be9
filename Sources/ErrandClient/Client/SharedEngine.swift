import Dispatch
import Synchronization

/// An engine that several clients use together: the loop threads, the connections, the TLS sessions, the DNS cache and
/// the cookie jar exist once. This saves threads and connections in a program with many small clients.
///
/// ```swift
/// var configuration = Client.Configuration(baseURL: "https://users.internal/")
/// configuration.sharedEngine = .named("service")
/// let users = Client(configuration: configuration)
/// configuration.baseURL = "https://orders.internal/"
/// let orders = Client(configuration: configuration)
/// ```
///
/// The first client starts the engine with its configuration. The last client stops the engine, either in its
/// ``Client/shutdown(_:)``, which then returns when the threads have ended, or in the background when the client is
/// released. The shutdown of any other client ends only the requests of that client. A client that is made while the
/// engine stops starts a new engine under the same name. If the cookies are in a file, the new engine begins with the
/// cookies of the engine that stops.
///
/// The engine has the settings of the client that started it. A later client must agree with them:
///
/// - ``Client/Configuration/cookies`` and `Client.Configuration.addressGuard` must be equal, because one client must not
///   get cookies that it did not ask for, or connections that its guard would refuse.
/// - ``Client/Configuration/loops``, ``Client/Configuration/queueCapacity``, ``Client/Configuration/inFlightLimit``,
///   ``Client/Configuration/originInFlightLimit`` and ``Client/Configuration/maxConcurrentStreams`` must be equal or
///   `nil`. `nil` accepts the engine's value. The limits count the requests of all clients.
///
/// If a client does not agree, each of its requests fails with ``ErrandError/invalidOption``, and the message names the
/// setting and both values. All other settings belong to each client: its ``ConnectionOptions`` travel with its
/// requests, and requests with equal options share connections.
///
/// If the engine cannot be started, the requests of the client that wanted to start it fail with the reason, and the next
/// client tries again with its own settings.
///
/// May be used from any thread. Making a client may block while another client starts the engine, and while a stopping
/// engine writes its cookies.
public final class SharedEngine: Sendable {
    /// One start of the engine.
    private struct Run: Sendable {
        let number: UInt64
        let transport: ReactorTransport
        let settings: ReactorSettings
        /// The engine before this one, if both have their cookies in a file.
        let former: ReactorTransport?
    }

    private struct State: ~Copyable {
        /// The engine that a client gets now.
        var present: Run?
        /// The last engine that has lost its clients, if its cookies are in a file. It may still be running.
        var former: ReactorTransport?
        var lastNumber: UInt64 = 0
        /// The run that each client uses, by the client's number.
        var owners: [UInt64: UInt64] = [:]
        /// How many clients use each run that has any.
        var clients: [UInt64: Int] = [:]

        mutating func nextNumber() -> UInt64 {
            lastNumber += 1
            return lastNumber
        }

        mutating func enter(_ run: Run, of engine: SharedEngine) -> EngineLease {
            let number = nextNumber()
            owners[number] = run.number
            clients[run.number, default: 0] += 1
            return EngineLease(of: engine, run.transport, after: run.former, number: number, run: run.number)
        }

        /// A client leaves. Returns whether the run has no clients left. Also true when the last client leaves again.
        mutating func leave(_ number: UInt64, run: UInt64) -> Bool {
            guard owners.removeValue(forKey: number) != nil else { return clients[run] == nil }
            let left = (clients[run] ?? 1) - 1
            clients[run] = left > 0 ? left : nil
            return left == 0
        }
    }

    private struct Entry {
        weak var engine: SharedEngine?
    }

    private static let registry = Mutex<[String: Entry]>([:])

    /// The name; `nil`: only holders of this object can share the engine.
    public let name: String?
    /// Held while an engine is started, so that a second client waits for it and starts none.
    private let starting = Mutex(())
    private let state = Mutex(State())

    private init(named name: String?) {
        self.name = name
    }

    /// Makes an engine without a name, for clients that are made with this object. Nothing is started yet.
    public convenience init() {
        self.init(named: nil)
    }

    /// The engine of this name in this process. Nothing is started yet. The name costs nothing once its clients have
    /// gone, their engine has ended, and nobody holds the object.
    public static func named(_ name: String) -> SharedEngine {
        registry.withLock { registry -> SharedEngine in
            if let engine = registry[name]?.engine { return engine }
            let engine = SharedEngine(named: name)
            registry[name] = Entry(engine: engine)
            return engine
        }
    }

    deinit {
        guard let name else { return }
        // The name may belong to a younger object already. That object is returned, so that it is not released, and
        // perhaps destroyed, under the lock.
        let younger = Self.registry.withLock { registry -> SharedEngine? in
            let engine = registry[name]?.engine
            if engine == nil { registry[name] = nil }
            return engine
        }
        withExtendedLifetime(younger) {}
    }

    /// The number of clients that use an engine of this object now.
    var clientCount: Int { state.withLock { $0.owners.count } }

    /// Gives a client its share, and starts the engine if there is none. The error is the one that the start failed with.
    /// If the client's settings do not agree with the engine's, it is ``ErrandError/invalidOption``.
    func join(_ settings: ReactorSettings) -> Result<EngineLease, ErrandError> {
        starting.withLock { _ -> Result<EngineLease, ErrandError> in
            let found = state.withLock { state -> Result<EngineLease, ErrandError>? in
                guard let present = state.present else { return nil }
                if let conflict = settings.conflict(with: present.settings) {
                    return .failure(ErrandError.invalidOption.with(message: "\(title): \(conflict)", isRefusal: true))
                }
                return .success(state.enter(present, of: self))
            }
            if let found { return found }
            // Not under the lock of the state: this starts threads, and may write and read cookie files.
            let former = settings.hasCookieFile ? state.withLock { $0.former } : nil
            if let former { Self.saveCookies(of: former) }
            let transport = ReactorTransport(settings)
            if let failure = transport.failure { return .failure(failure) }
            return state.withLock { state -> Result<EngineLease, ErrandError> in
                let run = Run(number: state.nextNumber(), transport: transport, settings: settings, former: former)
                state.present = run
                return .success(state.enter(run, of: self))
            }
        }
    }

    /// Takes a client's share back; further calls for it change nothing. Returns whether the engine has no clients left
    /// and is to be stopped. No client can join that engine any more.
    func leave(_ number: UInt64, run: UInt64) -> Bool {
        let (isOrphan, past, former) = state.withLock { state -> (Bool, Run?, ReactorTransport?) in
            guard state.leave(number, run: run) else { return (false, nil, nil) }
            guard let present = state.present, present.number == run else { return (true, nil, nil) }
            state.present = nil
            let former = state.former
            state.former = present.settings.hasCookieFile ? present.transport : nil
            return (true, present, former)
        }
        // Released here, not under the lock.
        withExtendedLifetime((past, former)) {}
        return isOrphan
    }

    /// Writes the cookies of an engine without clients to its file, and waits until that engine has ended. At its end the
    /// engine writes the file once more, which must not happen after the next engine has read it. A file that cannot be
    /// written is no error here, as at the end of an engine.
    private static func saveCookies(of former: ReactorTransport) {
        let done = DispatchSemaphore(value: 0)
        do throws(ErrandError) {
            try former.cookies?.save()
        } catch  where error == .wrongThread {
            // An inline callback makes the client, on a thread of that engine, which cannot wait for its own end.
            DispatchQueue.global().async {
                try? former.cookies?.save()
                done.signal()
            }
            done.wait()
            return
        } catch {}
        former.shutdown { done.signal() }
        // The engine has no requests, so its threads end at once. A busy machine may need longer.
        _ = done.wait(timeout: .now() + .seconds(10))
    }

    private var title: String { name.map { "the shared engine '\($0)'" } ?? "the shared engine" }
}

extension ReactorSettings {
    fileprivate var hasCookieFile: Bool {
        if case .file = cookies { true } else { false }
    }

    /// Why a client that asks for these settings cannot use an engine with `present`; `nil`: it can.
    fileprivate func conflict(with present: ReactorSettings) -> String? {
        for (name, asked, has) in [
            ("loops", loops, present.loops), ("queueCapacity", queueCapacity, present.queueCapacity),
            ("inFlightLimit", inFlightLimit, present.inFlightLimit),
            ("originInFlightLimit", originInFlightLimit, present.originInFlightLimit),
            ("maxConcurrentStreams", maxConcurrentStreams, present.maxConcurrentStreams),
        ] {
            guard let asked, asked != has else { continue }
            return "'\(name)' is \(has.map { "\($0)" } ?? "the default"), and a client asks for \(asked)"
        }
        if cookies != present.cookies {
            return "'cookies' is \(present.cookies), and a client asks for \(cookies)"
        }
        return hasFilter(of: present) ? nil : "'addressGuard' is not that of a client"
    }

    /// Whether both judge addresses in the same way. Filters that cannot be compared are different.
    private func hasFilter(of other: ReactorSettings) -> Bool {
        switch (addressFilter, other.addressFilter) {
        case (nil, nil): return true
        case (let own?, let others?):
            guard let own = own as? AnyHashable, let others = others as? AnyHashable else { return false }
            return own == others
        default: return false
        }
    }
}
