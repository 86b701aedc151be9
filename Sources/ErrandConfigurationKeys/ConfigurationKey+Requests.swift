extension ConfigurationKey {
    /// The settings that requests are built from.
    static let requests: [ConfigurationKey] = [
        .init("baseURL", .text, "none", "The URL that relative paths are joined to.", orNone: true),
        .init("cdnURL", .text, "none", "The same for commands that use the CDN.", orNone: true),
        .init(
            "pathJoining", .choice(["resolve", "append"]), "resolve",
            "How a path is joined to the base URL: by RFC 3986, or always appended."),
        .init("filtersAbsoluteURLs", .flag, "false", "Whether URL filters see absolute URLs, too."),
        .init(
            "headers", .fields, "none", "Header fields of every request, to every host.", orNone: true,
            isSecret: true),
        .init("userAgent", .text, "errand/0.1", "The User-Agent field.", orNone: true),
        .init("languages", .list, "none", "The languages of the Accept-Language field.", orNone: true),
        .init(
            "authorization.scheme", .choice(["none", "basic", "bearer", "digest"]), "none",
            "The credentials of commands that have none."),
        .init("authorization.username", .text, "not set", "The user name of basic and digest."),
        .init("authorization.password", .text, "not set", "The password of basic and digest.", isSecret: true),
        .init("authorization.token", .text, "not set", "The token of bearer.", isSecret: true),
        .init("authorization.anyOrigin", .flag, "false", "Whether the credentials are sent to every URL."),
        .init(
            "query.arrays", .choice(["brackets", "repeated", "indexed", "comma"]), "brackets",
            "How elements of an array are named: a[]=1, a=1, a[0]=1 or a=1,2."),
        .init("query.nesting", .choice(["brackets", "dots"]), "brackets", "How members are named: a[b]=1 or a.b=1."),
        .init("query.booleans", .choice(["numeric", "literal"]), "numeric", "1 and 0, or true and false."),
        .init("query.spaces", .choice(["percent", "plus"]), "percent", "A space is %20 or a plus sign."),
        .init(
            "query.nulls", .choice(["nameOnly", "empty", "omitted"]), "nameOnly",
            "How null is written: a, a= or not at all."),
        .init("query.sortsNames", .flag, "true", "Whether names are sorted."),
        .init(
            "accept.statusCodes", .list, "200-299", "The statuses that are a success, such as 200-299, 404; or any."),
        .init("accept.contentTypes", .list, "any", "The content types that are a success, such as image/*; or any."),
        .init("options.freshConnection", .flag, "false", "Whether each request uses a new connection."),
        .init(
            "options.allowReplay", .flag, "false",
            "Whether requests of any method are sent again when a kept connection turns out to be closed."),
        .init("options.withoutCookies", .flag, "false", "Whether cookies are neither sent nor stored."),
        .init(
            "redirects.limit", .count, "10", "The largest number of redirects; 0: they are final responses.",
            in: 0...100),
        .init("redirects.allowsDowngrade", .flag, "false", "Whether https may lead to http."),
        .init(
            "cache.policy", .choice(["off", "http", "timed"]), "off",
            "How responses of commands without a policy are cached: by RFC 9111, or for cache.timeToLive."),
        .init("cache.timeToLive", .duration, "not set", "How long a response of the policy timed is used.", in: years),
        .init("cache.version", .count, "0", "The version of the data of the policy timed.", in: 0...1e9),
        .init(
            "cache.reading",
            .choice(["cacheElseNetwork", "networkOnly", "cacheOnly", "cacheThenNetwork", "networkElseCache"]),
            "cacheElseNetwork", "The order in which the cache and the network are read."),
    ]

    /// More than zero, up to 30 days: the times that the engine can count.
    static let monthAtMost: ClosedRange<Double> = 0.001...2_592_000
    /// Up to ten years.
    static let years: ClosedRange<Double> = 0...315_360_000
    static let share: ClosedRange<Double> = 0...1
    static let million: ClosedRange<Double> = 1...1_000_000

    /// How long parts of a request take, and how much a server may send.
    static let timesAndLimits: [ConfigurationKey] = [
        .init(
            "timeouts.queue", .duration, "none", "From the submission until the engine starts the request.",
            in: monthAtMost, orNone: true),
        .init(
            "timeouts.connect", .duration, "10s", "From the start until ready to send: DNS, TCP, TLS.",
            in: monthAtMost, orNone: true),
        .init(
            "timeouts.firstByte", .duration, "none", "From the last byte sent to the first one received.",
            in: monthAtMost, orNone: true),
        .init(
            "timeouts.idle", .duration, "60s", "The longest time without a byte in either direction.",
            in: monthAtMost, orNone: true),
        .init(
            "timeouts.total", .duration, "none", "From the submission to the end, redirects included.",
            in: monthAtMost, orNone: true),
        .init("limits.headerBytes", .bytes, "64KiB", "Bytes of a response's header block.", in: engineBytes),
        .init("limits.headerCount", .count, "128", "Fields of a response's header block.", in: engineBytes),
        .init("limits.bodyBytes", .bytes, "64MiB", "Bytes of a body on the wire.", in: engineBytes),
        .init("limits.decodedBytes", .bytes, "64MiB", "Bytes of a body after decompression.", in: engineBytes),
    ]

    /// 2^50.
    private static let engineBytes: ClosedRange<Double> = 1...1_125_899_906_842_624
}
