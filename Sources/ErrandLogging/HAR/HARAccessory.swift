import Synchronization

/// Collects the traffic of a client as a ``HAR``, and writes it to a file.
///
/// ```swift
/// let traffic = HARAccessory(file: "traffic.har")
/// configuration.accessories.append(traffic)
/// let client = Client(configuration: configuration)
/// // ...
/// try traffic.finish()
/// ```
///
/// Each transfer has its own entry: redirects, replays, retries and hedges, the parts of downloads, failures and
/// timeouts, and streamed responses with their pieces. A response from a cache has none, because nothing was sent. The
/// entries show requests as they are handed to the engine, without the fields that libcurl adds, such as `Host` and
/// cookies of a jar. Secrets are hidden before anything is kept. For this purpose compressed bodies are kept decoded,
/// without `Content-Encoding`. A body in a coding other than gzip or deflate is dropped and marked.
///
/// Memory is bounded: by the limits of ``init(file:bodyLimit:memoryLimit:entryLimit:readsFiles:redaction:)``, and by
/// `bodyLimit` for each body of a transfer that is in flight. A body that was cut is marked.
///
/// The accessory belongs in ``Client/Configuration/accessories``; one accessory may serve several clients. If it is
/// added to a single request, it sees nothing. Any thread.
public final class HARAccessory: Accessory {
    private struct Collected {
        var entries: [HAR.Entry] = []
        var weight = 0
        var dropped = 0
        var withoutBodies = 0
    }

    private let collected = Mutex(Collected())
    private let file: String?
    private let options: HAROptions
    private let memoryLimit: Int
    private let entryLimit: Int

    /// Creates an accessory without entries.
    ///
    /// - Parameters:
    ///   - file: The file that ``finish()`` writes. Default, `nil`: no file; use ``har`` instead.
    ///   - bodyLimit: The most bytes that are kept of a body. Default: 1 MiB.
    ///   - memoryLimit: The bytes that all entries may take. Beyond it entries are kept without bodies and
    ///     pieces, and counted in ``withoutBodies``. Default: 64 MiB.
    ///   - entryLimit: The most entries. Later ones are only counted, in ``dropped``. Default: 10,000.
    ///   - readsFiles: Whether the bodies of requests that come from files are read, on the thread that starts the
    ///     request. Default: no; the entry has their size.
    ///   - redaction: The secrets to hide. Default: ``Redaction/standard``.
    public init(
        file: String? = nil, bodyLimit: Int = 1 << 20, memoryLimit: Int = 64 << 20, entryLimit: Int = 10_000,
        readsFiles: Bool = false, redaction: Redaction = .standard
    ) {
        self.file = file
        options = HAROptions(bodyLimit: bodyLimit, readsFiles: readsFiles, redaction: redaction)
        self.memoryLimit = memoryLimit
        self.entryLimit = entryLimit
    }

    /// The traffic so far: the transfers that have ended, in the order in which they started. A remark says how many are
    /// missing.
    public var har: HAR {
        let (entries, dropped) = collected.withLock { ($0.entries, $0.dropped) }
        let remark = dropped > 0 ? "\(dropped) later exchanges are missing" : nil
        return HAR(entries: entries, comment: remark).sorted
    }

    /// How many entries have neither bodies nor the times of pieces because of the memory limit.
    public var withoutBodies: Int { collected.withLock { $0.withoutBodies } }

    /// How many transfers are missing because of the limit on entries.
    public var dropped: Int { collected.withLock { $0.dropped } }

    /// Writes the traffic so far to the file, whose former content is replaced as a whole. May be called again, even
    /// while the client runs. Blocks while it writes.
    ///
    /// Throws ``ErrandError/invalidOption`` if the accessory has no file, and the errors of
    /// ``HAR/write(to:isPretty:)``.
    public func finish() throws(ErrandError) {
        guard let file else {
            throw .invalidOption.with(message: "the accessory was made without a file")
        }
        try har.write(to: file)
    }

    private func add(_ entry: HAR.Entry) {
        collected.withLock { collected in
            guard collected.entries.count < entryLimit else {
                collected.dropped += 1
                return
            }
            let isTooMuch = collected.weight + entry.weight > memoryLimit
            let kept = isTooMuch ? entry.withoutBodies : entry
            if isTooMuch { collected.withoutBodies += 1 }
            collected.weight += kept.weight
            collected.entries.append(kept)
        }
    }

    /// No effect.
    public func requestWillStart(_ request: AnyRequest) {}
    /// No effect.
    public func requestWillStop(_ request: AnyRequest) {}
    /// No effect.
    public func requestDidStop(_ request: AnyRequest) {}
}

extension HARAccessory: TransportLayer {
    package var position: TransportLayerPosition { .wire }

    package func makeTransport(over base: any Transport, of client: TransportLayerContext) -> any Transport {
        HARTransport(base, options, stopwatch: client.stopwatch) { [self] in add($0) }
    }
}
