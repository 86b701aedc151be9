/// What the caller wrote to a streamed upload before the transport beneath had the transfer.
struct UploadBacklog: Sendable {
    enum Ending: Sendable {
        case open, finished, failed
    }

    /// What goes to the transport beneath next.
    enum Piece: Sendable {
        case bytes([UInt8])
        case finish
        case fail
    }

    /// The credit of a new transfer. One byte more is kept, so that the transport beneath sees the overrun.
    private static let limit = 262_144 + 1

    private var bytes: [UInt8] = []
    private var ending = Ending.open
    /// Whether everything was passed on, so that the caller may write directly.
    private(set) var isPassedOn = false

    mutating func written(_ new: UnsafeRawBufferPointer) {
        guard case .open = ending else { return }
        bytes.append(contentsOf: new.prefix(max(0, Self.limit - bytes.count)))
    }

    mutating func ended(_ ending: Ending) {
        if case .open = self.ending { self.ending = ending }
    }

    /// The next piece; `nil`: everything was passed on.
    mutating func next() -> Piece? {
        if !bytes.isEmpty {
            defer { bytes = [] }
            return .bytes(bytes)
        }
        let last = ending
        ending = .open
        isPassedOn = true
        switch last {
        case .open: return nil
        case .finished: return .finish
        case .failed: return .fail
        }
    }
}
