import HTTPTypes

extension CacheControl {
    /// The directives of a response.
    static func response(_ headers: HTTPFields) -> CacheControl {
        var control = CacheControl()
        for value in headers[values: .cacheControl] { control.read(value) }
        return control
    }

    /// The directives of a request. `Pragma: no-cache` counts if there is no `Cache-Control` (RFC 9111 5.4).
    static func request(_ headers: HTTPFields) -> CacheControl {
        let values = headers[values: .cacheControl]
        var control = CacheControl()
        for value in values { control.read(value) }
        if values.isEmpty {
            for value in headers[values: .pragma] {
                var parser = DirectiveParser(value)
                while let directive = parser.next() {
                    if directive.name == "no-cache" { control.noCache = .everything }
                }
            }
        }
        return control
    }

    private mutating func read(_ value: String) {
        var parser = DirectiveParser(value)
        while let directive = parser.next() { apply(directive) }
    }

    private mutating func apply(_ directive: DirectiveParser.Directive) {
        switch directive.name {
        case "no-store": flags.insert(.noStore)
        case "no-transform": flags.insert(.noTransform)
        case "only-if-cached": flags.insert(.onlyIfCached)
        case "public": flags.insert(.public)
        case "must-revalidate": flags.insert(.mustRevalidate)
        case "proxy-revalidate": flags.insert(.proxyRevalidate)
        case "must-understand": flags.insert(.mustUnderstand)
        case "immutable": flags.insert(.immutable)
        case "no-cache": noCache.widen(to: directive.scope)
        case "private": self.private.widen(to: directive.scope)
        case "max-age": if maxAge == nil { maxAge = directive.seconds ?? 0 }
        case "s-maxage": if sharedMaxAge == nil { sharedMaxAge = directive.seconds ?? 0 }
        case "min-fresh": if minFresh == nil { minFresh = directive.seconds ?? Self.longest }
        case "max-stale":
            if maxStale == nil { maxStale = directive.argument == .none ? Self.longest : directive.seconds }
        case "stale-while-revalidate":
            if staleWhileRevalidate == nil { staleWhileRevalidate = directive.seconds }
        case "stale-if-error": if staleIfError == nil { staleIfError = directive.seconds }
        // RFC 9111 5.2.3: unknown directives are ignored.
        default: break
        }
    }
}

extension DirectiveParser.Directive {
    /// RFC 9111 1.2.2; the quoted form is accepted too (5.2).
    var seconds: Int64? {
        guard case .text(let text) = argument else { return nil }
        return DeltaSeconds.parse(text)
    }

    /// The fields that the directive names; everything if it names none, or if a name cannot be read.
    var scope: CacheControl.Scope {
        guard case .text(let text) = argument else { return .everything }
        let parts = text.split(separator: ",").map { FieldTokens.trimmed($0) }.filter { !$0.isEmpty }
        let names = parts.compactMap { HTTPField.Name($0)?.canonicalName }
        return names.isEmpty || names.count < parts.count ? .everything : .fields(Set(names))
    }
}

/// RFC 9111 1.2.2.
enum DeltaSeconds {
    static func parse(_ text: some StringProtocol) -> Int64? {
        guard !text.isEmpty else { return nil }
        var seconds: Int64 = 0
        for byte in text.utf8 {
            guard (0x30...0x39).contains(byte) else { return nil }
            seconds = min(seconds * 10 + Int64(byte - 0x30), CacheControl.longest)
        }
        return seconds
    }
}

extension HTTPField.Name {
    /// HTTPTypes has no constant for this name.
    static let pragma = Self("Pragma") ?? .cacheControl
}
