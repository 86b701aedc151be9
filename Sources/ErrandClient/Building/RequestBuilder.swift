import HTTPTypes

/// Turns commands into descriptions by a client's settings. Immutable, so that a request retains one object, the
/// builder, and sees one state of the settings. May be used from any thread.
package final class RequestBuilder: Sendable {
    let settings: Client.Settings
    /// The options that the engine was started with: descriptions without options use them.
    let engine: ConnectionOptions
    let baseURL: Prepared<BaseURL>?
    let cdnURL: Prepared<BaseURL>?
    /// Whether the base or the CDN URL is no URL.
    private let hasBrokenBase: Bool
    private let headers: Prepared<HeaderDefaults>
    /// The headers for URLs that do not get the client's authorization. `nil`: there are no such URLs.
    private let foreignHeaders: Prepared<HeaderDefaults>?
    private let options: CommandOptions
    let plain: Prepared<TransferSettings>
    /// TLS settings by host. `nil`: one TLS setting for all hosts.
    let policies: Result<TLSPolicyTable, ErrandError>?
    let hasPolicies: Bool
    /// Replaces the URLs of commands, redirects and interceptors; `nil`: they are used as they are. A request may have
    /// another one, or none: ``upgrader(by:)``.
    let upgrade: (any URLUpgrade)?

    init(_ settings: Client.Settings, engine: ConnectionOptions, upgrade: (any URLUpgrade)? = nil) {
        let engine = engine.resolved
        self.settings = settings
        self.engine = engine
        self.upgrade = upgrade
        baseURL = Self.base(settings.baseURL)
        cdnURL = Self.base(settings.cdnURL)
        hasBrokenBase = baseURL?.isBroken == true || cdnURL?.isBroken == true
        headers = Prepared { () throws(ErrandError) in try HeaderDefaults(settings) }
        let isBound = settings.authorization != nil && !settings.authorizesAnyOrigin
        if isBound, baseURL != nil || cdnURL != nil {
            foreignHeaders = Prepared { () throws(ErrandError) in try HeaderDefaults(settings, authorized: false) }
        } else {
            foreignHeaders = nil
        }
        options = settings.options.subtracting(.coalesced)
        var own = settings.connection
        if own.encodings == nil, settings.headers.contains(.acceptEncoding) { own.encodings = [] }
        let connection = own.resolved
        let plain = Prepared { () throws(ErrandError) in
            try TransferSettings(
                timeouts: settings.timeouts.resolved, limits: settings.limits, priority: .normal,
                connection: connection == engine ? nil : connection, requiresTLS: settings.connection.tls.demandsTLS)
        }
        self.plain = plain
        hasPolicies = settings.tlsPolicies != TLSPolicies()
        if !hasPolicies {
            policies = nil
        } else {
            policies = Result { () throws(ErrandError) in
                try TLSPolicyTable(
                    settings.tlsPolicies, plain: try plain.get(), connection: settings.connection, engine: engine)
            }
        }
    }

    convenience init(_ configuration: Client.Configuration) {
        self.init(configuration, engine: configuration.settings.connection)
    }

    /// `engine`: the options that the engine was started with.
    convenience init(_ configuration: Client.Configuration, engine: ConnectionOptions) {
        self.init(configuration.settings, engine: engine, upgrade: configuration.urlUpgrade)
    }

    private static func base(_ text: String?) -> Prepared<BaseURL>? {
        guard let text else { return nil }
        return Prepared { () throws(ErrandError) in try BaseURL(text) }
    }

    @inline(never)
    private func checkBases() throws(ErrandError) {
        _ = try baseURL?.get()
        _ = try cdnURL?.get()
    }

    /// Builds the description of a command. Throws the error that keeps the command from being sent; nothing was opened
    /// then.
    func description(
        of command: some Command, overrides: RequestOverrides? = nil
    ) throws(ErrandError) -> RequestDescription {
        // Even for an absolute URL: which origins get the client's credentials depends on both.
        if hasBrokenBase { try checkBases() }
        if let overrides, let custom = overrides.customRequest {
            return try description(of: custom, by: command, overrides)
        }
        if let custom = command.givenCustomRequest { return try description(of: custom, by: command, overrides) }
        let resilience = overrides?.resilience ?? command.givenResilience
        let upgrade = upgrader(by: resilience)
        var url = try url(of: command, overrides, upgrade)
        var body = command.givenBody
        var parameters = command.givenParameters
        var encoding = command.givenParameterEncoding
        var own = (fields: try command.givenHeaders, authorization: command.givenAuthorization)
        if let overrides {
            body = overrides.body ?? body
            // Empty parameters of a command make a form without fields. Empty parameters of an override remove all
            // parameters.
            if let given = overrides.parameters { parameters = given.isEmpty ? nil : given }
            encoding = overrides.parameterEncoding ?? encoding
            Self.replace(&own.fields, by: overrides.headers)
            own.authorization = overrides.authorization ?? own.authorization
        }
        if !own.fields.isEmpty { askForWholeBytes(&own.fields, command, overrides) }
        // `nil`: no body. Most requests have none, and make no value for it.
        let wire: WireBody?
        if let parameters {
            wire = try place(parameters, encoding, method: try command.givenMethod, beside: body, url: &url)
        } else if body.isNone {
            wire = nil
        } else {
            wire = try body.wire(settings.jsonEncoder ?? SharedCoders.jsonEncoder)
        }
        var prepared = headers
        if let foreignHeaders, !isOwn(url, of: command, overrides, upgrade) { prepared = foreignHeaders }
        let defaults = try prepared.get()
        var description = RequestDescription(
            method: try command.givenMethod, url: url, headers: try defaults.block(own, wire),
            body: wire?.body ?? .none, options: overrides?.options ?? command.givenOptions.union(options),
            settings: try transferSettings(
                of: command, overrides, url: url, own.fields, hasSource: wire?.body.isSource == true))
        if let authentication = try defaults.authentication(own) { description.authentication = authentication }
        if let resilience { description.resilience = resilience }
        return description
    }

    /// What a group's request sends to the carrier of its children: only its total time.
    func description(
        ofGroup command: some Command, overrides: RequestOverrides?
    ) throws(ErrandError) -> RequestDescription {
        let total = overrides?.timeouts?.total ?? command.givenTimeouts?.total
        let settings = try plain.get().with(total: total?.duration)
        return RequestDescription(
            method: .get, url: "group:", headers: .empty, body: .none, options: [], settings: settings)
    }

    private func description(
        of custom: CustomRequest, by command: some Command, _ overrides: RequestOverrides?
    ) throws(ErrandError) -> RequestDescription {
        let path = try PercentEncoding.url(custom.url)
        guard var url = try Self.absolute(path, hasBase: false) else { throw Self.unusable(path) }
        let resilience = overrides?.resilience ?? command.givenResilience
        upgrader(by: resilience)?.upgrade(&url)
        var fields = custom.headers
        var body = custom.body
        var authentication: ServerAuthentication?
        if let overrides {
            if let member = overrides.unfitForCustomRequest {
                throw ErrandError.invalidArgument.with(
                    message: "'\(member)' cannot be overridden: a custom request is sent unchanged")
            }
            url = PercentEncoding.appending(PercentEncoding.query(overrides.query), to: url)
            body = overrides.body ?? body
            if let authorization = overrides.authorization {
                fields[.authorization] = nil
                if let value = try authorization.header() { fields.append(.authorization(value)) }
                authentication = try authorization.challenged()
            }
            Self.replace(&fields, by: overrides.headers)
            if overrides.headers.contains(.authorization) { authentication = nil }
        }
        askForWholeBytes(&fields, command, overrides)
        let wire = try body.wire(settings.jsonEncoder ?? SharedCoders.jsonEncoder)
        var description = RequestDescription(
            method: custom.method, url: url, headers: try HeaderDefaults.block(of: fields, wire), body: wire.body,
            options: overrides?.options ?? command.givenOptions.union(options),
            settings: try transferSettings(
                of: command, overrides, url: url, fields, hasSource: wire.body.isSource))
        if let authentication { description.authentication = authentication }
        if let resilience { description.resilience = resilience }
        return description
    }

    private static func replace(_ fields: inout HTTPFields, by others: HTTPFields) {
        guard !others.isEmpty else { return }
        fields = HTTPFields(fields.filter { !others.contains($0.name) } + others)
    }

    /// Places `parameters` in the body or in the URL.
    private func place(
        _ parameters: Parameters, _ encoding: ParameterEncoding, method: HTTPRequest.Method,
        beside body: RequestBody, url: inout String
    ) throws(ErrandError) -> WireBody {
        var encoding = encoding
        if encoding == .automatic {
            switch method {
            case .get, .head, .delete: encoding = .query
            default: encoding = .form
            }
        }
        var style = settings.queryStyle
        switch encoding {
        case .query(let own):
            url = PercentEncoding.appending(try (own ?? style).encode(parameters), to: url)
            return try body.wire(settings.jsonEncoder ?? SharedCoders.jsonEncoder)
        case .form(let own): style = own ?? style
        case .json, .automatic: break
        }
        if let parts = body.addingParts(try style.fields(parameters)) {
            return try parts.wire(settings.jsonEncoder ?? SharedCoders.jsonEncoder)
        }
        guard case .none = body.storage else {
            throw ErrandError.invalidBody.with(
                message: "the command has both a body and parameters that go into a body")
        }
        if encoding == .json { return WireBody(body: .bytes(try parameters.json()), contentType: "application/json") }
        // The body has its content type even if it is empty, as with AFNetworking: that is a form without fields.
        return WireBody(
            body: .bytes(Array(try style.encode(parameters).utf8)), contentType: "application/x-www-form-urlencoded")
    }
}
