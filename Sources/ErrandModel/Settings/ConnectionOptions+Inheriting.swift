extension ConnectionOptions {
    /// The members of `base` where there are none here.
    package func inheriting(_ base: ConnectionOptions) -> ConnectionOptions {
        ConnectionOptions(
            httpVersion: httpVersion ?? base.httpVersion, encodings: encodings ?? base.encodings,
            tls: tls.inheriting(base.tls), proxy: proxy ?? base.proxy,
            resolveOverrides: resolveOverrides ?? base.resolveOverrides,
            unixSocketPath: unixSocketPath ?? base.unixSocketPath,
            localInterface: localInterface ?? base.localInterface,
            tcpKeepaliveSeconds: tcpKeepaliveSeconds ?? base.tcpKeepaliveSeconds,
            idleConnectionSeconds: idleConnectionSeconds ?? base.idleConnectionSeconds)
    }

    /// With nothing left to inherit, one value for all that mean the same, so that they share connections: `nil` is the
    /// library's from here on, but for ``encodings``, which are always said.
    package var resolved: ConnectionOptions {
        ConnectionOptions(
            httpVersion: httpVersion.unless(.automatic), encodings: encodings ?? .all, tls: tls.resolved,
            proxy: proxy.unless(.direct), resolveOverrides: resolveOverrides.unless([]),
            unixSocketPath: unixSocketPath.unless(""), localInterface: localInterface.unless(""),
            tcpKeepaliveSeconds: tcpKeepaliveSeconds.unless(0), idleConnectionSeconds: idleConnectionSeconds.unless(0))
    }
}

extension ConnectionOptions.TLS {
    /// The members of `base` where there are none here. A certificate brings its key and password along; `base`'s
    /// comes with those that are not said here.
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
        return result
    }

    /// As that of options. Without ``requiresTLS``, which is no matter of the connection: see ``demandsTLS``.
    var resolved: Self {
        var result = Self(
            caFile: caFile.unless(""), clientCertificate: clientCertificate.unless(""),
            clientKey: clientKey.unless(""), clientKeyPassword: clientKeyPassword.unless(""),
            pinnedKeys: pinnedKeys.unless([]), minimumVersion: minimumVersion.unless(.v1_2),
            insecureAcceptAnyCertificate: insecureAcceptAnyCertificate.unless(false),
            insecureAcceptAnyHostName: insecureAcceptAnyHostName.unless(false))
        result.proxyCAFile = proxyCAFile.unless("")
        return result
    }

    /// Whether clear text is refused, once nothing is left to inherit.
    package var demandsTLS: Bool {
        requiresTLS ?? (pinnedKeys.unless([]) != nil)
    }

    /// Whether they name a certificate, which tells who asks.
    package var namesClient: Bool { clientCertificate.unless("") != nil || clientKey.unless("") != nil }

    package var withoutClient: Self {
        var result = self
        result.clientCertificate = nil
        result.clientKey = nil
        result.clientKeyPassword = nil
        return result
    }
}

extension Optional where Wrapped: Equatable {
    /// `nil` for `value`, too.
    fileprivate func unless(_ value: Wrapped) -> Wrapped? { self == value ? nil : self }
}
