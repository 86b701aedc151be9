extension ConnectionOptions {
    /// These options; members that are not set are taken from `base`.
    package func inheriting(_ base: ConnectionOptions) -> ConnectionOptions {
        var result = self
        result.httpVersion = httpVersion ?? base.httpVersion
        result.encodings = encodings ?? base.encodings
        result.tls = tls.inheriting(base.tls)
        result.proxy = proxy ?? base.proxy
        result.resolveOverrides = resolveOverrides ?? base.resolveOverrides
        result.unixSocketPath = unixSocketPath ?? base.unixSocketPath
        result.localInterface = localInterface ?? base.localInterface
        result.tcpKeepaliveSeconds = tcpKeepaliveSeconds ?? base.tcpKeepaliveSeconds
        result.idleConnectionSeconds = idleConnectionSeconds ?? base.idleConnectionSeconds
        return result
    }

    /// The options after inheritance: `nil` is the library's default from here on, except for ``encodings``, which is
    /// always set. Options that mean the same have one value, so that their requests share connections.
    package var resolved: ConnectionOptions {
        ConnectionOptions(
            httpVersion: httpVersion.unless(.automatic), encodings: encodings ?? .all, tls: tls.resolved,
            proxy: proxy.unless(.direct), resolveOverrides: resolveOverrides.unless([]),
            unixSocketPath: unixSocketPath?.value, localInterface: localInterface?.value,
            tcpKeepaliveSeconds: tcpKeepaliveSeconds?.value, idleConnectionSeconds: idleConnectionSeconds?.value)
    }
}

extension ConnectionOptions.TLS {
    /// These settings; members that are not set are taken from `base`. A certificate keeps its own key and password. A
    /// certificate from `base` comes with `base`'s key and password if they are not set here.
    package func inheriting(_ base: Self) -> Self {
        var result = self
        result.caFile = caFile ?? base.caFile
        result.proxyCAFile = proxyCAFile ?? base.proxyCAFile
        if clientCertificate == nil {
            result.clientCertificate = base.clientCertificate
            result.clientKey = clientKey ?? base.clientKey
            result.clientKeyPassword = clientKeyPassword ?? base.clientKeyPassword
        }
        result.pinnedKeys = pinnedKeys ?? base.pinnedKeys
        result.minimumVersion = minimumVersion ?? base.minimumVersion
        result.insecureAcceptAnyCertificate = insecureAcceptAnyCertificate ?? base.insecureAcceptAnyCertificate
        result.insecureAcceptAnyHostName = insecureAcceptAnyHostName ?? base.insecureAcceptAnyHostName
        result.requiresTLS = requiresTLS ?? base.requiresTLS
        result.keyLog = keyLog ?? base.keyLog
        return result
    }

    /// The settings after inheritance, as for the options. ``requiresTLS`` is left out, because it is not a property of
    /// the connection: see ``demandsTLS``.
    var resolved: Self {
        var result = Self(
            caFile: caFile?.value, clientCertificate: clientCertificate?.value,
            clientKey: clientKey?.value, clientKeyPassword: clientKeyPassword?.value,
            pinnedKeys: pinnedKeys.unless([]), minimumVersion: minimumVersion.unless(.v1_2),
            insecureAcceptAnyCertificate: insecureAcceptAnyCertificate.unless(false),
            insecureAcceptAnyHostName: insecureAcceptAnyHostName.unless(false))
        result.proxyCAFile = proxyCAFile.unless(.libraryDefault)
        result.keyLog = keyLog.unless(.off)
        return result
    }

    /// Whether clear text is refused, after inheritance.
    package var demandsTLS: Bool {
        requiresTLS ?? (pinnedKeys.unless([]) != nil)
    }

    /// Whether the settings name a client certificate, which identifies the client.
    package var namesClient: Bool { clientCertificate?.value != nil || clientKey?.value != nil }

    package var withoutClient: Self {
        var result = self
        result.clientCertificate = nil
        result.clientKey = nil
        result.clientKeyPassword = nil
        return result
    }
}

extension Optional where Wrapped: Equatable {
    /// `nil` also if the member equals `value`.
    fileprivate func unless(_ value: Wrapped) -> Wrapped? { self == value ? nil : self }
}
