import CErrand
import Glibc

extension ConnectionOptions {
    /// Checks options after inheritance. A NUL is refused, because C strings end at the first one and the rest would be
    /// lost silently. An empty text and 0 are refused, because they mean the default to the core. Throws
    /// ``ErrandError/invalidOption``.
    func check() throws(ErrandError) {
        var texts = (resolveOverrides ?? []) + (tls.pinnedKeys ?? [])
        if let connectTo { texts.append(connectTo) }
        for (name, setting) in [
            ("caFile", tls.caFile), ("proxyCAFile", tls.proxyCAFile), ("clientCertificate", tls.clientCertificate),
            ("clientKey", tls.clientKey), ("clientKeyPassword", tls.clientKeyPassword),
            ("unixSocketPath", unixSocketPath), ("localInterface", localInterface),
        ] {
            guard let text = setting?.value else { continue }
            guard !text.isEmpty else { throw ErrandError.invalidOption.with(message: "'\(name)' is empty") }
            texts.append(text)
        }
        if case .url(let url, let bypass) = proxy {
            texts.append(url)
            _ = try ProxyBypass.list(bypass)
        }
        guard texts.allSatisfy({ !$0.utf8.contains(0) }) else {
            throw ErrandError.invalidOption.with(message: "a connection option contains a NUL")
        }
        for (name, setting) in [
            ("tcpKeepaliveSeconds", tcpKeepaliveSeconds), ("idleConnectionSeconds", idleConnectionSeconds),
        ] {
            // The core has the same bound, but its error does not name the option.
            guard let value = setting?.value, !(1...86400).contains(value) else { continue }
            throw ErrandError.invalidOption.with(message: "'\(name)' is \(value), expected 1...86400")
        }
    }

    /// Throws the error with which the engine refuses requests with these options. Looks at the files that they name.
    package func tryOut() throws(ErrandError) {
        _ = try OptionsSlot(resolved, pause: OptionsCache.pause)
    }

    /// The options that are set, for an error's message; without passwords and the proxy's user.
    var summary: String {
        var parts: [String] = []
        if let file = tls.caFile?.value { parts.append("caFile \(file)") }
        if let file = tls.proxyCAFile?.value { parts.append("proxyCAFile \(file)") }
        if let file = tls.clientCertificate?.value { parts.append("clientCertificate \(file)") }
        if let file = tls.clientKey?.value { parts.append("clientKey \(file)") }
        if tls.keyLog == .environment {
            parts.append("keyLog")
        } else if getenv("SSLKEYLOGFILE") != nil {
            parts.append("no keyLog although SSLKEYLOGFILE is set")
        }
        if let keys = tls.pinnedKeys { parts.append("\(keys.count) pinned keys") }
        if let resolveOverrides { parts.append("resolveOverrides \(resolveOverrides)") }
        if let connectTo { parts.append("connectTo \(connectTo)") }
        if let path = unixSocketPath?.value { parts.append("unixSocketPath \(path)") }
        if let name = localInterface?.value { parts.append("localInterface \(name)") }
        if proxy != nil { parts.append("a proxy") }
        if let encodings { parts.append("encodings \(encodings.rawValue)") }
        parts.append("httpVersion \(httpVersion ?? .automatic)")
        return parts.joined(separator: ", ")
    }

    /// Calls `body` with the C form; the strings are valid during the call.
    func withCOptions<Result>(_ body: (inout errand_options_init) -> Result) -> Result {
        var strings = CStrings()
        defer { strings.free() }
        var options = errand_options_init()
        options.http_policy =
            switch httpVersion {
            case .automatic, nil: .automatic
            case .http1: .http1
            case .http2OverTLS: .http2OverTLS
            case .http2PriorKnowledge: .http2PriorKnowledge
            }
        options.encodings = encodings?.rawValue ?? 0
        options.ca_file = strings.add(tls.caFile?.value)
        options.proxy_ca_file = strings.add(tls.proxyCAFile?.value)
        options.client_certificate = strings.add(tls.clientCertificate?.value)
        options.client_key = strings.add(tls.clientKey?.value)
        options.client_key_password = strings.add(tls.clientKeyPassword?.value)
        if let pinnedKeys = tls.pinnedKeys {
            let keys = pinnedKeys.map { $0.hasPrefix("sha256//") ? $0 : "sha256//" + $0 }
            options.pinned_keys = strings.add(keys.joined(separator: ";"))
        }
        options.tls_minimum = tls.minimumVersion == .v1_3 ? .v1_3 : .v1_2
        options.insecure_accept_any_certificate = tls.insecureAcceptAnyCertificate == true ? 1 : 0
        options.insecure_accept_any_host_name = tls.insecureAcceptAnyHostName == true ? 1 : 0
        options.key_log = tls.keyLog == .environment ? .environment : .off
        switch proxy {
        case .direct, nil:
            options.proxy_policy = .none
        case .url(let url, let bypass):
            options.proxy_policy = .url
            options.proxy_url = strings.add(url)
            options.no_proxy = strings.add(try? ProxyBypass.list(bypass))
        case .environment:
            options.proxy_policy = .environment
            options.no_proxy = strings.add(ProxyBypass.fromEnvironment())
        }
        options.unix_socket_path = strings.add(unixSocketPath?.value)
        options.connect_to = strings.add(connectTo)
        options.local_interface = strings.add(localInterface?.value)
        options.tcp_keepalive_seconds = tcpKeepaliveSeconds?.value ?? 0
        options.idle_connection_seconds = idleConnectionSeconds?.value ?? 0
        let entries = (resolveOverrides ?? []).map { strings.add($0) }
        return entries.withUnsafeBufferPointer { entries in
            options.resolve = entries.isEmpty ? nil : entries.baseAddress
            options.resolve_count = entries.count
            return body(&options)
        }
    }
}

/// NUL-terminated copies that live until `free`.
private struct CStrings {
    private var copies: [UnsafeMutableBufferPointer<CChar>] = []

    mutating func add(_ text: String?) -> UnsafePointer<CChar>? {
        guard let text else { return nil }
        let characters = text.utf8CString
        let copy = UnsafeMutableBufferPointer<CChar>.allocate(capacity: characters.count)
        _ = copy.initialize(fromContentsOf: characters)
        copies.append(copy)
        return UnsafePointer(copy.baseAddress)
    }

    func free() {
        for copy in copies { copy.deallocate() }
    }
}
