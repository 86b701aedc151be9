import Errand

extension ConfigurationValues {
    /// The settings that requests are built from.
    func readRequests(_ settings: inout Client.Settings) {
        settings.baseURL = url("baseURL").orNil(settings.baseURL)
        settings.cdnURL = url("cdnURL").orNil(settings.cdnURL)
        settings.pathJoining = choice("pathJoining", ["resolve": PathJoining.resolve, "append": .append])
            .or(settings.pathJoining)
        settings.filtersAbsoluteURLs = flag("filtersAbsoluteURLs").or(settings.filtersAbsoluteURLs)
        settings.headers = fields("headers").or(settings.headers, none: HTTPFields())
        settings.userAgent = userAgent().orNil(settings.userAgent)
        let languages: Given<[String]> = list("languages", of: "a language tag such as de-AT, or *") {
            PreferredLanguages.isRange($0) ? $0 : nil
        }
        settings.languages = languages.or(settings.languages, none: [])
        settings.authorization = authorization(over: settings.authorization)
        settings.authorizesAnyOrigin = flag("authorization.anyOrigin").or(settings.authorizesAnyOrigin)
        readQuery(&settings.queryStyle)
        settings.acceptedStatusCodes = statusCodes("accept.statusCodes").or(settings.acceptedStatusCodes)
        settings.acceptedContentTypes = contentTypes("accept.contentTypes").or(settings.acceptedContentTypes)
        read("options.freshConnection", .freshConnection, &settings.options)
        read("options.allowReplay", .allowReplay, &settings.options)
        read("options.withoutCookies", .withoutCookies, &settings.options)
        settings.redirects.limit = count("redirects.limit").or(settings.redirects.limit)
        settings.redirects.allowsDowngrade = flag("redirects.allowsDowngrade").or(settings.redirects.allowsDowngrade)
        settings.cache = cachePolicy(over: settings.cache)
    }

    private func url(_ name: String) -> Given<String> {
        let given = text(name)
        guard case .value(let url) = given else { return given }
        do throws(ErrandError) {
            _ = try BaseURL(url)
            return given
        } catch {
            fail(name, error.message)
            return .absent
        }
    }

    /// RFC 9110 5.5. The core refuses every request with such a field (headers.c).
    private static func hasControlCharacter(_ text: String) -> Bool {
        text.utf8.contains { $0 < 0x20 && $0 != 0x09 || $0 == 0x7F }
    }

    private func userAgent() -> Given<String> {
        let given = text("userAgent")
        guard case .value(let name) = given, Self.hasControlCharacter(name) else { return given }
        fail("userAgent", "contains a control character")
        return .absent
    }

    /// The value of a field may be secret, so the message about a wrong field contains only its place.
    private func fields(_ name: String) -> Given<HTTPFields> {
        let given = list(name)
        guard case .value(let lines) = given else { return given.map { _ in HTTPFields() } }
        var fields = HTTPFields()
        for (index, line) in lines.enumerated() {
            guard !Self.hasControlCharacter(line) else {
                fail(name, "field \(index + 1) contains a control character")
                return .absent
            }
            guard let colon = line.firstIndex(of: ":"),
                let field = try? HTTPField.checked(
                    name: ConfigurationText.trimmed(line[..<colon]),
                    value: ConfigurationText.trimmed(line[colon...].dropFirst()))
            else {
                fail(name, "field \(index + 1) is not a header field of the form 'Name: value'")
                return .absent
            }
            // The core refuses Transfer-Encoding, and a Content-Length that is not the length of the request's body. It
            // writes Content-Length itself.
            guard field.name != .transferEncoding, field.name != .contentLength else {
                fail(name, "field \(index + 1) is Transfer-Encoding or Content-Length, which only the engine writes")
                return .absent
            }
            fields.append(field)
        }
        return .value(fields)
    }

    private func authorization(over base: Authorization?) -> Authorization? {
        enum Scheme { case none, basic, bearer, digest }
        let given = choice(
            "authorization.scheme",
            ["none": Scheme.none, "basic": Scheme.basic, "bearer": Scheme.bearer, "digest": Scheme.digest])
        let username = text("authorization.username").orNil(nil)
        let password = text("authorization.password").orNil(nil)
        let token = text("authorization.token").orNil(nil)
        guard case .value(let scheme) = given else {
            for name in ["authorization.username", "authorization.password", "authorization.token"] where isSet(name) {
                fail(name, "is set, and authorization.scheme is not")
            }
            return base
        }
        switch scheme {
        case .none: return nil
        case .bearer:
            refuse(["authorization.username", "authorization.password"], "is set, and authorization.scheme is bearer")
            guard let token else { return missing("authorization.token", base) }
            check(.bearer(token), "authorization.token")
            return .bearer(token)
        case .basic, .digest:
            refuse(["authorization.token"], "is set, and authorization.scheme is not bearer")
            guard let username else { return missing("authorization.username", base) }
            guard let password else { return missing("authorization.password", base) }
            func made(_ username: String, _ password: String) -> Authorization {
                scheme == .basic
                    ? .basic(username: username, password: password) : .digest(username: username, password: password)
            }
            // One after the other, so that the right key is named.
            check(made(username, ""), "authorization.username")
            check(made("user", password), "authorization.password")
            return made(username, password)
        }
    }

    /// Notes credentials that every request would refuse. The messages of these errors contain neither names nor
    /// secrets.
    private func check(_ authorization: Authorization, _ name: String) {
        do throws(ErrandError) {
            _ = try authorization.header()
            _ = try authorization.challenged()
        } catch {
            fail(name, error.message)
        }
    }

    private func missing(_ name: String, _ base: Authorization?) -> Authorization? {
        fail(name, "is missing: authorization.scheme needs it")
        return base
    }

    private func readQuery(_ style: inout QueryStyle) {
        style.arrays = choice(
            "query.arrays",
            [
                "brackets": QueryStyle.Arrays.brackets, "repeated": .repeated, "indexed": .indexed, "comma": .comma,
            ]
        ).or(style.arrays)
        style.nesting = choice("query.nesting", ["brackets": QueryStyle.Nesting.brackets, "dots": .dots])
            .or(style.nesting)
        style.booleans = choice("query.booleans", ["numeric": QueryStyle.Booleans.numeric, "literal": .literal])
            .or(style.booleans)
        style.spaces = choice("query.spaces", ["percent": QueryStyle.Spaces.percent, "plus": .plus]).or(style.spaces)
        style.nulls = choice(
            "query.nulls", ["nameOnly": QueryStyle.Nulls.nameOnly, "empty": .empty, "omitted": .omitted]
        ).or(style.nulls)
        style.sortsNames = flag("query.sortsNames").or(style.sortsNames)
    }

    private func read(_ name: String, _ option: CommandOptions, _ options: inout CommandOptions) {
        guard case .value(let isOn) = flag(name) else { return }
        if isOn { options.insert(option) } else { options.remove(option) }
    }

    /// `200-299, 404`, or `any`.
    private func statusCodes(_ name: String) -> Given<StatusCodes> {
        if case .value(["any"]) = list(name) { return .value(.any) }
        let ranges: Given<[ClosedRange<Int>]> = list(name, of: "a status such as 200 or a range such as 200-299") {
            self.range($0, within: 100...599)
        }
        return ranges.map { ranges in
            guard let first = ranges.first else { return StatusCodes.of([Int]()) }
            return ranges.dropFirst().reduce(StatusCodes.in(first)) { $0.union(.in($1)) }
        }
    }

    /// `image/*, +json`, or `any`. A word without a slash would match nothing.
    private func contentTypes(_ name: String) -> Given<ContentTypes> {
        if case .value(["any"]) = list(name) { return .value(.any) }
        let types: Given<[String]> = list(name, of: "any or a content type such as text/plain, image/* or +json") {
            let parts = $0.split(separator: "/", omittingEmptySubsequences: false)
            let isSuffix = $0.hasPrefix("+") && $0.utf8.count > 1 && parts.count == 1
            return isSuffix || parts.count == 2 && !parts.contains("") ? $0 : nil
        }
        return types.map { ContentTypes.of($0) }
    }

    /// `443` or `8000-8999`.
    func range(_ text: String, within bounds: ClosedRange<Int>) -> ClosedRange<Int>? {
        let ends = text.split(separator: "-", omittingEmptySubsequences: false).map { ConfigurationText.trimmed($0) }
        guard (1...2).contains(ends.count), let low = ends.first.flatMap({ ConfigurationText.count($0) }),
            let high = ends.last.flatMap({ ConfigurationText.count($0) }), low <= high, bounds.contains(low),
            bounds.contains(high)
        else { return nil }
        return low...high
    }

    private func cachePolicy(over base: CachePolicy) -> CachePolicy {
        enum Policy { case off, http, timed }
        let given = choice("cache.policy", ["off": Policy.off, "http": Policy.http, "timed": Policy.timed])
        let time = duration("cache.timeToLive").orNil(nil)
        let version = count("cache.version").or(0)
        let reading = choice(
            "cache.reading",
            [
                "cacheElseNetwork": CacheReading.cacheElseNetwork, "networkOnly": .networkOnly,
                "cacheOnly": .cacheOnly, "cacheThenNetwork": .cacheThenNetwork, "networkElseCache": .networkElseCache,
            ])
        guard case .value(let policy) = given else {
            refuse(["cache.timeToLive", "cache.version"], "is set, and cache.policy is not")
            if base.isOff { refuse(["cache.reading"], "is set, and cache.policy is not") }
            return base.isOff ? base : with(reading, base)
        }
        switch policy {
        case .off: return .off
        case .http:
            refuse(["cache.timeToLive", "cache.version"], "is set, and cache.policy is http")
            return with(reading, .http)
        case .timed:
            guard let time else {
                fail("cache.timeToLive", "is missing: cache.policy needs it")
                return base
            }
            return with(reading, .timed(time, version: Int64(version)))
        }
    }

    private func with(_ reading: Given<CacheReading>, _ policy: CachePolicy) -> CachePolicy {
        if case .value(let reading) = reading { policy.with(reading: reading) } else { policy }
    }
}
