import HTTPTypes

extension RequestBuilder {
    /// Shared by all requests that say nothing, composed for the others. `fields`, `body`: the request's own.
    func transferSettings(
        of command: some Command, _ overrides: RequestOverrides?, url: String, _ fields: HTTPFields,
        _ body: RequestDescription.Body
    ) throws(ErrandError) -> TransferSettings {
        var keepsEncoding =
            command.givenOptions.contains(.keepsEncoding) || (!fields.isEmpty && fields.contains(.acceptEncoding))
        // The end of a response that is decoded is told when the upload has ended, too, which may be waiting for it.
        if case .source = body { keepsEncoding = true }
        // Most say nothing, and are not to copy what they do not say.
        if overrides == nil, !hasPolicies, command.givenTimeouts == nil, command.givenLimits == nil,
            command.givenPriority == .normal, command.givenConnection == nil, !keepsEncoding
        {
            let settings = try plain.get()
            if settings.requiresTLS { try Self.requireTLS(url) }
            return settings
        }
        return try ownSettings(of: command, overrides, url: url, keepsEncoding)
    }

    /// A range is one of the bytes that are sent: unless encodings are asked for by name, those of the content itself.
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
                // What is the engine's own shares its connections.
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

    /// What a request goes by that was led from `url` to another origin: that one's TLS policy. Throws
    /// ``ErrandError/invalidURL`` where the host cannot be told, and ``ErrandError/unsupportedScheme`` where TLS is required
    /// and it is not.
    ///
    /// - Parameter byServer: a server's redirect is not to be trusted with who asks; the program's own interceptor is.
    func settings(
        forHop next: RequestDescription, from url: String, byServer: Bool = true
    ) throws(ErrandError) -> TransferSettings {
        var settings = next.settings
        guard URLReference(url).origin != URLReference(next.url).origin else { return settings }
        if let policies {
            let table = try policies.get()
            let entry = try table.entry(ofURL: next.url)
            var tls = (entry ?? table.fallback)?.tls ?? self.settings.connection.tls
            // It tells who asks; only an entry for the host says that it may know.
            if byServer, entry?.own.namesClient != true { tls = tls.withoutClient }
            if let own = settings.ownTLS {
                tls = (byServer && own.namesClient ? own.withoutClient : own).inheriting(tls)
            }
            settings = settings.with(tls: tls, engine: engine)
        }
        if settings.requiresTLS { try Self.requireTLS(next.url) }
        return settings
    }

    /// `url` is absolute, its scheme http or https.
    private static func requireTLS(_ url: String) throws(ErrandError) {
        guard url.utf8.dropFirst(4).first == UInt8(ascii: ":") else { return }
        throw ErrandError.unsupportedScheme.with(
            message:
                "the TLS settings for '\(URLReference(url).authority ?? "")' require https: they pin keys, name "
                + "a client certificate, or say so (requiresTLS)")
    }
}
