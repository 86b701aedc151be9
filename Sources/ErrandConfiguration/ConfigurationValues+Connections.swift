import Errand
import Glibc

extension ConfigurationValues {
    /// How long parts of a request take, and how much a server may send.
    func readTimesAndLimits(_ settings: inout Client.Settings) {
        let timeouts = settings.timeouts
        settings.timeouts = Timeouts(
            queue: timeout("timeouts.queue", timeouts.queue), connect: timeout("timeouts.connect", timeouts.connect),
            firstByte: timeout("timeouts.firstByte", timeouts.firstByte),
            idle: timeout("timeouts.idle", timeouts.idle), total: timeout("timeouts.total", timeouts.total))
        let limits = settings.limits
        settings.limits = Limits(
            headerBytes: bytes("limits.headerBytes").orNil(limits.headerBytes),
            headerCount: count("limits.headerCount").orNil(limits.headerCount),
            bodyBytes: bytes("limits.bodyBytes").orNil(limits.bodyBytes),
            decodedBytes: bytes("limits.decodedBytes").orNil(limits.decodedBytes))
    }

    /// `none` is no limit, and not the library's default.
    private func timeout(_ name: String, _ base: Timeout?) -> Timeout? {
        switch duration(name) {
        case .absent: base
        case .none: .noLimit
        case .value(let time): .after(time)
        }
    }

    /// How servers are reached.
    func readConnection(_ connection: inout ConnectionOptions) {
        typealias Version = ConnectionOptions.HTTPVersionPolicy
        connection.httpVersion = choice(
            "connection.httpVersion",
            [
                "automatic": Version.automatic, "http1": .http1, "http2OverTLS": .http2OverTLS,
                "http2PriorKnowledge": .http2PriorKnowledge,
            ]
        ).orNil(connection.httpVersion)
        connection.encodings = encodings(over: connection.encodings)
        connection.proxy = proxy(over: connection.proxy)
        let overrides: Given<[String]> = list(
            "connection.resolveOverrides", of: "an entry of the form host:port:address"
        ) { entry in
            entry.split(separator: ":", omittingEmptySubsequences: false).count > 2 ? entry : nil
        }
        connection.resolveOverrides = overrides.orNil(connection.resolveOverrides, none: [])
        connection.unixSocketPath = setting(text("connection.unixSocketPath"), connection.unixSocketPath)
        connection.localInterface = setting(text("connection.localInterface"), connection.localInterface)
        connection.tcpKeepaliveSeconds = setting(seconds("connection.tcpKeepalive"), connection.tcpKeepaliveSeconds)
        connection.idleConnectionSeconds = setting(seconds("connection.idleTime"), connection.idleConnectionSeconds)
        readTLS(&connection.tls)
        tryOut(connection)
    }

    /// Lets the engine make its options from each setting once, as it does for a request: it refuses pins, addresses
    /// and proxies that it cannot read, and files that it cannot open.
    private func tryOut(_ connection: ConnectionOptions) {
        let tls = connection.tls
        tryOut("connection.proxy") { $0.proxy = connection.proxy }
        tryOut("connection.resolveOverrides") { $0.resolveOverrides = connection.resolveOverrides }
        tryOut("connection.unixSocketPath") { $0.unixSocketPath = connection.unixSocketPath }
        tryOut("connection.localInterface") { $0.localInterface = connection.localInterface }
        tryOut("tls.caFile") { $0.tls.caFile = tls.caFile }
        tryOut("tls.proxyCaFile") { $0.tls.proxyCAFile = tls.proxyCAFile }
        tryOut("tls.clientCertificate") { $0.tls.clientCertificate = tls.clientCertificate }
        tryOut("tls.clientKey") { $0.tls.clientKey = tls.clientKey }
        tryOut("tls.clientKeyPassword") { $0.tls.clientKeyPassword = tls.clientKeyPassword }
        tryOut("tls.pinnedKeys") { $0.tls.pinnedKeys = tls.pinnedKeys }
    }

    private func tryOut(_ name: String, _ change: (inout ConnectionOptions) -> Void) {
        guard isSet(name) else { return }
        var options = ConnectionOptions()
        change(&options)
        do throws(ErrandError) {
            try options.tryOut()
        } catch {
            // The message may contain the value.
            fail(name, isSecret(name) ? "cannot be used" : "\(shown(name)) cannot be used: \(error.message)")
        }
    }

    /// `none` is the library's default.
    private func setting<Value: Sendable & Hashable>(_ given: Given<Value>, _ base: Setting<Value>?) -> Setting<Value>?
    {
        switch given {
        case .absent: base
        case .none: .libraryDefault
        case .value(let value): .value(value)
        }
    }

    private func encodings(over base: ConnectionOptions.Encodings?) -> ConnectionOptions.Encodings? {
        typealias Encodings = ConnectionOptions.Encodings
        let words: [String: Encodings] = ["gzip": .gzip, "deflate": .deflate, "br": .brotli, "zstd": .zstd]
        let given: Given<[Encodings]> = list(
            "connection.encodings", of: "one of gzip, deflate, br, zstd"
        ) { words[$0.lowercased()] }
        switch given {
        case .absent: return base
        case .none: return []
        case .value(let list): return list.reduce(into: Encodings()) { $0.formUnion($1) }
        }
    }

    private func proxy(over base: ConnectionOptions.Proxy?) -> ConnectionOptions.Proxy? {
        let bypass = list("connection.proxyBypass").orNil(nil, none: [])
        if let bypass {
            do throws(ErrandError) {
                _ = try ProxyBypass.list(bypass)
            } catch {
                fail("connection.proxyBypass", error.message)
            }
        }
        guard case .value(let proxy) = text("connection.proxy") else {
            guard let bypass else { return base }
            guard case .url(let url, _) = base else {
                if bypass.isEmpty { return base }
                fail("connection.proxyBypass", "is set, and connection.proxy is no URL")
                return base
            }
            return .url(url, bypass: bypass)
        }
        let schemes = ["http://", "https://", "socks5://", "socks5h://"]
        let isURL = schemes.contains(where: { proxy.lowercased().hasPrefix($0) })
        switch proxy {
        case "direct": return .direct
        case "environment":
            if bypass?.isEmpty == false {
                fail("connection.proxyBypass", "is set, and connection.proxy is environment")
            }
            return .environment
        case _ where isURL: return .url(proxy, bypass: bypass ?? [])
        default:
            fail("connection.proxy", "is neither direct nor environment nor an http, https, socks5 or socks5h URL")
            return base
        }
    }

    private func readTLS(_ tls: inout ConnectionOptions.TLS) {
        tls.caFile = setting(text("tls.caFile"), tls.caFile)
        tls.proxyCAFile = setting(text("tls.proxyCaFile"), tls.proxyCAFile)
        tls.clientCertificate = setting(text("tls.clientCertificate"), tls.clientCertificate)
        tls.clientKey = setting(text("tls.clientKey"), tls.clientKey)
        tls.clientKeyPassword = setting(text("tls.clientKeyPassword"), tls.clientKeyPassword)
        tls.pinnedKeys = list("tls.pinnedKeys").orNil(tls.pinnedKeys, none: [])
        tls.minimumVersion = choice(
            "tls.minimumVersion", ["1.2": ConnectionOptions.TLS.Version.v1_2, "1.3": .v1_3]
        ).orNil(tls.minimumVersion)
        tls.insecureAcceptAnyCertificate = flag("tls.insecureAcceptAnyCertificate")
            .orNil(tls.insecureAcceptAnyCertificate)
        tls.insecureAcceptAnyHostName = flag("tls.insecureAcceptAnyHostName").orNil(tls.insecureAcceptAnyHostName)
        tls.requiresTLS = flag("tls.requiresTLS").orNil(tls.requiresTLS)
    }

    /// The settings that a client is started with.
    func readStart(_ configuration: inout Client.Configuration) {
        let engine = text("engine.name")
        if startsClient {
            configuration.sharedEngine = engine.map { SharedEngine.named($0) }.orNil(configuration.sharedEngine)
        }
        configuration.loops = count("engine.loops").orNil(configuration.loops)
        configuration.queueCapacity = count("engine.queueCapacity").orNil(configuration.queueCapacity)
        configuration.inFlightLimit = count("engine.inFlightLimit").orNil(configuration.inFlightLimit)
        configuration.originInFlightLimit = count("engine.originInFlightLimit")
            .orNil(configuration.originInFlightLimit)
        configuration.maxConcurrentStreams = count("engine.maxConcurrentStreams")
            .orNil(configuration.maxConcurrentStreams)
        configuration.cookies = cookies(over: configuration.cookies)
        configuration.reportsStops = flag("reportsStops").or(configuration.reportsStops)
        readMemoryCache(&configuration)
    }

    private func cookies(over base: CookieStorage) -> CookieStorage {
        enum Storage { case off, memory, file }
        let given = choice("cookies.storage", ["off": Storage.off, "memory": Storage.memory, "file": Storage.file])
        let file = text("cookies.file").orNil(nil)
        guard case .value(let storage) = given else {
            if file != nil { fail("cookies.file", "is set, and cookies.storage is not") }
            return base
        }
        switch storage {
        case .off: return .off
        case .memory:
            if file != nil { fail("cookies.file", "is set, and cookies.storage is memory") }
            return .memory
        case .file:
            guard let file else {
                fail("cookies.file", "is missing: cookies.storage is file")
                return base
            }
            tryOutCookies(file)
            return .file(file)
        }
    }

    /// Notes a file that the engine could not read, and which would fail every request. Without the file, the engine
    /// begins without cookies. The checks are those of `errand__jar_load`.
    private func tryOutCookies(_ path: String) {
        let name = "cookies.file"
        guard !path.utf8.contains(0) else { return fail(name, "contains a NUL") }
        guard startsClient else { return }
        var file: Int32
        repeat {
            // O_NONBLOCK: opening a FIFO would wait for its writer.
            file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        } while file < 0 && errno == EINTR
        guard file >= 0 else {
            let error = SystemError(errno)
            if error.number != ENOENT { fail(name, "\(shown(name)) cannot be opened: \(error.text)") }
            return
        }
        var status = stat()
        let isRegular = fstat(file, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
        close(file)
        if !isRegular { fail(name, "\(shown(name)) is not a regular file") }
    }

    /// Any key of the cache makes a cache in memory, which replaces the program's cache. Settings without a key are as
    /// in that cache.
    private func readMemoryCache(_ configuration: inout Client.Configuration) {
        let program = configuration.cache
        let library = (program?.store as? MemoryCacheStore)?.limits ?? MemoryCacheStore.Limits()
        let limits = MemoryCacheStore.Limits(
            bytes: bytes("cache.memory.bytes").or(library.bytes),
            entries: count("cache.memory.entries").or(library.entries),
            bytesPerEntry: bytes("cache.memory.entryBytes").or(library.bytesPerEntry))
        let isShared = flag("cache.isShared").or(program?.isShared ?? false)
        let namespace = text("cache.namespace").or(program?.namespace ?? "")
        guard hasPart("cache.memory") || isSet("cache.isShared") || isSet("cache.namespace") else { return }
        configuration.cache = ResponseCache(
            MemoryCacheStore(limits: limits), name: program?.name ?? "errand", isShared: isShared,
            applicationVersion: program?.applicationVersion, namespace: namespace)
    }
}
