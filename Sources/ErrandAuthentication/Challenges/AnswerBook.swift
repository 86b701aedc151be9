/// The answers to challenges that were good, by whom they were given to. Pure.
struct AnswerBook: Sendable {
    /// Who may be shown an answer again.
    struct Key: Sendable, Hashable {
        let side: ChallengeSide
        let origin: String
        /// As the request has it: what one proxy was told is not for another, nor for a server that is reached without.
        let proxy: ConnectionOptions.Proxy

        /// `nil` where that side has no business with the request: a proxy does not see what is sent by https, and what
        /// was put into it for the proxy would reach the server, as it would where no proxy that speaks HTTP is used.
        ///
        /// - Parameters:
        ///   - connection: What a request without options of its own goes by.
        ///   - environment: What is asked where those leave it to the environment.
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
        /// Tells an answer from one that replaced it.
        let serial: UInt64
    }

    /// Beyond it the oldest answer is forgotten.
    static let capacity = 1000

    private var entries: [Key: Entry] = [:]
    private var lastSerial: UInt64 = 0

    subscript(key: Key) -> Entry? { entries[key] }

    var count: Int { entries.count }

    /// The answer was good.
    mutating func keep(_ credential: ServerCredential, for key: Key) -> Entry {
        lastSerial += 1
        let entry = Entry(credential: credential, serial: lastSerial)
        entries[key] = entry
        if entries.count > Self.capacity, let oldest = entries.min(by: { $0.value.serial < $1.value.serial }) {
            entries[oldest.key] = nil
        }
        return entry
    }

    /// The answer was refused. One that has replaced it stays.
    mutating func forget(_ entry: Entry, for key: Key) {
        if entries[key]?.serial == entry.serial { entries[key] = nil }
    }

    mutating func forgetAll() {
        entries = [:]
    }
}
