/// Successful answers to challenges, by the server or proxy that received them. Pure.
struct AnswerBook: Sendable {
    /// The server or proxy that an answer may be sent to again.
    struct Key: Sendable, Hashable {
        let side: ChallengeSide
        let origin: String
        /// The request's proxy setting: an answer given to one proxy is not sent to another, nor to a server that is
        /// reached without a proxy.
        let proxy: ConnectionOptions.Proxy

        /// `nil` if that side does not see the request. With https, a proxy does not see the request: a field for
        /// the proxy would reach the server. The same holds if no HTTP proxy is used.
        ///
        /// - Parameters:
        ///   - connection: The options of a request that has none of its own.
        ///   - environment: The environment, for options that leave the proxy to it.
        init?(
            _ side: ChallengeSide, _ request: RequestDescription, _ connection: ConnectionOptions,
            _ environment: ProxyEnvironment
        ) {
            let url = URLReference(request.url)
            let options = request.settings.connection ?? connection
            origin = url.origin
            proxy = options.proxy ?? .direct
            if side == .proxy {
                guard url.scheme?.lowercased() == "http", options.passesHTTPProxy(to: origin, by: environment) else {
                    return nil
                }
            }
            self.side = side
        }
    }

    struct Entry: Sendable, Hashable {
        let credential: ServerCredential
        /// Distinguishes an answer from a later one with the same key.
        let serial: UInt64
    }

    /// Beyond this number, the oldest answer is dropped.
    static let capacity = 1000

    private var entries: [Key: Entry] = [:]
    private var lastSerial: UInt64 = 0

    subscript(key: Key) -> Entry? { entries[key] }

    var count: Int { entries.count }

    /// Keeps an answer that was accepted.
    mutating func keep(_ credential: ServerCredential, for key: Key) -> Entry {
        lastSerial += 1
        let entry = Entry(credential: credential, serial: lastSerial)
        entries[key] = entry
        if entries.count > Self.capacity, let oldest = entries.min(by: { $0.value.serial < $1.value.serial }) {
            entries[oldest.key] = nil
        }
        return entry
    }

    /// Drops an answer that was refused. A newer answer with the same key stays.
    mutating func forget(_ entry: Entry, for key: Key) {
        if entries[key]?.serial == entry.serial { entries[key] = nil }
    }

    mutating func forgetAll() {
        entries = [:]
    }
}
