import HTTPTypes

extension RequestBuilder {
    /// The settings of a transfer. Requests without settings of their own share one value; for other requests it is
    /// composed. `fields`: the request's own. `hasSource`: the body is read while it is sent.
    func transferSettings(
        of command: some Command, _ overrides: RequestOverrides?, url: String, _ fields: HTTPFields,
        hasSource: Bool
    ) throws(ErrandError) -> TransferSettings {
        var keepsEncoding =
            command.givenOptions.contains(.keepsEncoding) || (!fields.isEmpty && fields.contains(.acceptEncoding))
        // The end of a decoded response is reported only after the upload has ended, and the upload may be waiting for
        // that end.
        if hasSource { keepsEncoding = true }
        // Most requests have no settings of their own, and should copy nothing in this check.
        if overrides == nil, !hasPolicies, command.givenTimeouts == nil, command.givenLimits == nil,
            command.givenPriority == .normal, command.givenConnection == nil, !keepsEncoding
        {
            let settings = try plain.get()
            if settings.requiresTLS { try Self.requireTLS(url) }
            return settings
        }
        return try ownSettings(of: command, overrides, url: url, keepsEncoding)
    }

    /// Asks for an unencoded body if a range is requested: a range counts the bytes that are sent. If encodings are
    /// requested by name, the range counts the encoded bytes on purpose.
    func askForWholeBytes(_ fields: inout HTTPFields, _ command: some Command, _ overrides: RequestOverrides?) {
        guard fields.contains(.range), !fields.contains(.acceptEncoding), settings.headers[.acceptEncoding] == nil,
            overrides?.connection?.encodings ?? command.givenConnection?.encodings ?? settings.connection.encodings
                == nil
        else { return }
        fields[.acceptEncoding] = "identity"
    }

    @inline(never)
    private func ownSettings(
        of command: some Command, _ overrides: RequestOverrides?, url: String, _ keepsEncoding: Bool
    ) throws(ErrandError) -> TransferSettings {
        var timeouts = command.givenTimeouts
        var limits = command.givenLimits
        var priority = command.givenPriority
        var connection = command.givenConnection
        if let overrides {
            if let given = overrides.timeouts { timeouts = timeouts.map(given.inheriting) ?? given }
            if let given = overrides.limits { limits = limits.map(given.inheriting) ?? given }
            priority = overrides.priority ?? priority
            if let given = overrides.connection { connection = connection.map(given.inheriting) ?? given }
        }
        if keepsEncoding, connection?.encodings == nil, settings.connection.encodings == nil {
            connection = connection ?? ConnectionOptions()
            connection?.encodings = []
        }
        let entry: TLSPolicyTable.Entry? = if let policies { try policies.get().entry(forURL: url) } else { nil }
        var result = if let entry { entry.settings } else { try plain.get() }
        if timeouts != nil || limits != nil || priority != .normal || connection != nil {
            let own = connection?.tls
            var options = result.connection
            var requiresTLS = result.requiresTLS
            if let connection {
                var all = connection.inheriting(settings.connection)
                if let entry { all.tls = connection.tls.inheriting(entry.tls) }
                // Options that equal the engine's share its connections.
                let resolved = all.resolved
                options = resolved == engine ? nil : resolved
                requiresTLS = all.tls.demandsTLS
            }
            result = try TransferSettings(
                timeouts: (timeouts?.inheriting(settings.timeouts) ?? settings.timeouts).resolved,
                limits: limits?.inheriting(settings.limits) ?? settings.limits,
                priority: priority, connection: options, requiresTLS: requiresTLS,
                ownTLS: own == ConnectionOptions.TLS() ? nil : own)
        }
        if result.requiresTLS { try Self.requireTLS(url) }
        return result
    }

    /// The settings of a request that was led from `url` to another origin: the TLS policy of that origin applies.
    /// Throws ``ErrandError/invalidURL`` if the host cannot be determined, and ``ErrandError/unsupportedScheme`` if TLS
    /// is required and the URL does not use it.
    ///
    /// - Parameter byServer: Whether a server's redirect led there. A redirect is not trusted with the client's
    ///   identity; the program's own interceptor is.
    func settings(
        forHop next: RequestDescription, from url: String, byServer: Bool = true
    ) throws(ErrandError) -> TransferSettings {
        var settings = next.settings
        guard URLReference(url).origin != URLReference(next.url).origin else { return settings }
        if let policies {
            let table = try policies.get()
            let entry = try table.entry(ofURL: next.url)
            var tls = (entry ?? table.fallback)?.tls ?? self.settings.connection.tls
            // A client certificate reveals the client's identity. Only an entry for the host allows that.
            if byServer, entry?.own.namesClient != true { tls = tls.withoutClient }
            if let own = settings.ownTLS {
                tls = (byServer && own.namesClient ? own.withoutClient : own).inheriting(tls)
            }
            settings = settings.with(tls: tls, engine: engine)
        }
        if settings.requiresTLS { try Self.requireTLS(next.url) }
        return settings
    }

    /// Checks the scheme. `url` is absolute, and its scheme is http or https.
    private static func requireTLS(_ url: String) throws(ErrandError) {
        guard url.utf8.dropFirst(4).first == UInt8(ascii: ":") else { return }
        throw ErrandError.unsupportedScheme.with(
            message:
                "the TLS settings for '\(URLReference(url).authority ?? "")' require https, because they pin keys, name "
                + "a client certificate or set requiresTLS")
    }
}
