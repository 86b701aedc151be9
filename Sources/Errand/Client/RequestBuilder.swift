import HTTPTypes

/// Turns commands into descriptions by a client's settings. Immutable, so that a request takes one reference to it and
/// sees one state of the settings; any thread.
final class RequestBuilder: Sendable {
    let settings: Client.Settings
    /// What the engine was started with: descriptions without options stand for it.
    let engine: ConnectionOptions
    let baseURL: Result<BaseURL, ErrandError>?
    let cdnURL: Result<BaseURL, ErrandError>?
    private let headers: Result<HeaderDefaults, ErrandError>
    private let plain: Result<TransferSettings, ErrandError>
    /// `nil`: one TLS for all hosts.
    private let policies: Result<TLSPolicyTable, ErrandError>?

    init(_ settings: Client.Settings, engine: ConnectionOptions) {
        self.settings = settings
        self.engine = engine
        baseURL = Self.base(settings.baseURL)
        cdnURL = Self.base(settings.cdnURL)
        headers = Result { () throws(ErrandError) in try HeaderDefaults(settings) }
        let plain = Result { () throws(ErrandError) in
            try TransferSettings(
                timeouts: settings.timeouts, limits: settings.limits, priority: .normal,
                connection: settings.connection == engine ? nil : settings.connection)
        }
        self.plain = plain
        if settings.tlsPolicies == TLSPolicies() {
            policies = nil
        } else {
            policies = Result { () throws(ErrandError) in
                try TLSPolicyTable(settings.tlsPolicies, plain: try plain.get(), connection: settings.connection)
            }
        }
    }

    convenience init(_ configuration: Client.Configuration) {
        self.init(configuration.settings, engine: configuration.settings.connection)
    }

    private static func base(_ text: String?) -> Result<BaseURL, ErrandError>? {
        guard let text, !text.isEmpty else { return nil }
        return Result { () throws(ErrandError) in try BaseURL(text) }
    }

    /// Throws what keeps a command from being sent; nothing has been opened then.
    func description(
        of command: some Command, overrides: RequestOverrides? = nil
    ) throws(ErrandError) -> RequestDescription {
        if let custom = command.customRequest { return try description(of: custom, by: command, overrides) }
        var url = try url(of: command, overrides)
        let wire: WireBody
        let body = command.body
        let given = overrides == nil ? nil : overrides?.parameters
        if let parameters = given ?? command.parameters {
            wire = try place(parameters, of: command, beside: body, url: &url)
        } else {
            wire = try body.wire()
        }
        var own = (fields: command.headers, authorization: command.authorization)
        if let overrides {
            Self.replace(&own.fields, by: overrides.headers)
            own.authorization = overrides.authorization ?? own.authorization
        }
        let headers = try headers.get()
        var description = RequestDescription(
            method: command.method, url: url, headers: try headers.block(own, wire), body: wire.body,
            options: overrides?.options ?? command.options,
            settings: try transferSettings(of: command, overrides, url: url))
        if let authentication = try headers.authentication(own) { description.authentication = authentication }
        return description
    }

    private func description(
        of custom: CustomRequest, by command: some Command, _ overrides: RequestOverrides?
    ) throws(ErrandError) -> RequestDescription {
        let path = try PercentEncoding.url(custom.url)
        guard var url = try Self.absolute(path, hasBase: false) else { throw Self.unusable(path) }
        var fields = custom.headers
        if let overrides {
            url = PercentEncoding.appending(PercentEncoding.query(overrides.query), to: url)
            Self.replace(&fields, by: overrides.headers)
        }
        let wire = try custom.body.wire()
        return RequestDescription(
            method: custom.method, url: url, headers: HeaderDefaults.block(of: fields, wire), body: wire.body,
            options: overrides?.options ?? command.options,
            settings: try transferSettings(of: command, overrides, url: url))
    }

    private static func replace(_ fields: inout HTTPFields, by others: HTTPFields) {
        guard !others.isEmpty else { return }
        fields = HTTPFields(fields.filter { !others.contains($0.name) } + others)
    }

    /// What `parameters` make of the body, or of the URL.
    private func place(
        _ parameters: Parameters, of command: some Command, beside body: RequestBody, url: inout String
    ) throws(ErrandError) -> WireBody {
        var encoding = command.parameterEncoding
        if encoding == .automatic {
            switch command.method {
            case .get, .head, .delete: encoding = .query
            default: encoding = .form
            }
        }
        var style = QueryStyle.afNetworking
        switch encoding {
        case .query(let style):
            url = PercentEncoding.appending(try style.encode(parameters), to: url)
            return try body.wire()
        case .form(let own): style = own
        case .json, .automatic: break
        }
        if let parts = body.addingParts(try style.fields(parameters)) { return try parts.wire() }
        guard case .none = body.storage else {
            throw ErrandError.invalidBody.with(
                message: "the command has both a body and parameters that go into a body")
        }
        if encoding == .json { return WireBody(body: .bytes(try parameters.json()), contentType: "application/json") }
        // With its type even where it is empty, as AFNetworking: that is a form without fields.
        return WireBody(
            body: .bytes(Array(try style.encode(parameters).utf8)), contentType: "application/x-www-form-urlencoded")
    }

    // MARK: How to send it

    private func transferSettings(
        of command: some Command, _ overrides: RequestOverrides?, url: String
    ) throws(ErrandError) -> TransferSettings {
        var timeouts = command.timeouts
        var limits = command.limits
        var priority = command.priority
        var connection = command.connection
        if let overrides {
            timeouts = overrides.timeouts ?? timeouts
            limits = overrides.limits ?? limits
            priority = overrides.priority ?? priority
            connection = overrides.connection ?? connection
        }
        if timeouts == nil, limits == nil, connection == nil, priority == .normal {
            if let policies, let entry = try policies.get().entry(forURL: url) { return entry.settings }
            return try plain.get()
        }
        var basis = TransferSettings.TLSBasis.client
        if let connection { basis = connection.tls == ConnectionOptions.TLS() ? .standard : .request }
        if let policies, basis != .request, let entry = try policies.get().entry(forURL: url) {
            if connection == nil {
                connection = entry.settings.connection
            } else {
                connection?.tls = entry.tls
            }
        } else if connection == nil {
            connection = try plain.get().connection
        }
        return try TransferSettings(
            timeouts: timeouts ?? settings.timeouts, limits: limits ?? settings.limits, priority: priority,
            connection: connection, tlsBasis: basis)
    }

    /// What a request goes by that was led from `url` to another origin: that one's TLS policy. Throws
    /// ``ErrandError/invalidURL`` where the host cannot be told.
    ///
    /// - Parameter byServer: a server's redirect is not to be trusted with who asks; the program's own interceptor is.
    func settings(
        forHop next: RequestDescription, from url: String, byServer: Bool = true
    ) throws(ErrandError) -> TransferSettings {
        let settings = next.settings
        guard let policies, settings.tlsBasis != .request else { return settings }
        guard URLReference(url).origin != URLReference(next.url).origin else { return settings }
        let table = try policies.get()
        var tls: ConnectionOptions.TLS
        if let entry = try table.entry(ofURL: next.url) {
            tls = entry.tls
        } else {
            tls = table.fallback?.tls ?? (settings.tlsBasis == .client ? self.settings.connection.tls : .init())
            if byServer {
                // It tells who asks; only an entry for the host says that it may know.
                tls.clientCertificate = nil
                tls.clientKey = nil
                tls.clientKeyPassword = nil
            }
        }
        var connection = settings.connection ?? engine
        guard connection.tls != tls else { return settings }
        connection.tls = tls
        return settings.with(connection: connection == engine ? nil : connection)
    }
}
