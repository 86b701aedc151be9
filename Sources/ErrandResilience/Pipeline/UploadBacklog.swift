/// What the caller wrote to a streamed upload before the transport beneath had the transfer.
///
/// After an attempt has failed the caller may still be writing the body of that attempt. What is written is dropped
/// until the caller begins anew.
struct UploadBacklog: Sendable {
    enum Ending: Sendable {
        case open, finished, failed
    }

    /// Bytes that were written.
    enum Part: Sendable {
        case bytes([UInt8])
        /// Still lent: nothing is copied under the call's lock.
        case shared(SharedBytes)
    }

    /// What goes to the transport beneath next.
    enum Piece: Sendable {
        case parts([Part])
        case finish
        case fail
    }

    /// What is kept, in order.
    private struct Kept: Sendable {
        var parts: [Part] = []
        var count = 0

        /// How many more bytes can be kept.
        var room: Int { UploadBacklog.limit - count }

        mutating func append(_ new: UnsafeRawBufferPointer) {
            let new = new.prefix(room)
            guard !new.isEmpty else { return }
            count += new.count
            // Small writes share an array.
            if case .bytes(var bytes)? = parts.last {
                parts.removeLast()
                bytes.append(contentsOf: new)
                parts.append(.bytes(bytes))
            } else {
                parts.append(.bytes([UInt8](new)))
            }
        }

        mutating func append(_ new: SharedBytes) {
            let new = new.prefix(room)
            guard new.count > 0 else { return }
            count += new.count
            parts.append(.shared(new))
        }
    }

    /// The credit of a new transfer. One byte more is kept, so that the transport beneath sees the overrun.
    private static let limit = 262_144 + 1

    private enum Phase: Sendable {
        /// What is written is kept.
        case keeping(Kept, Ending)
        /// Everything was passed on: the caller writes to this transfer directly.
        case direct(TransferID)
        /// What is written belongs to an attempt that has failed. The id: the transport beneath has the next attempt.
        case stale(TransferID?)
    }

    private var phase = Phase.keeping(Kept(), .open)
    /// The attempt whose body is awaited.
    private var attempt = 1

    /// The transfer beneath that the caller writes to directly; `nil`: what is written is kept, or dropped.
    var target: TransferID? {
        if case .direct(let id) = phase { id } else { nil }
    }

    mutating func written(_ new: UnsafeRawBufferPointer) {
        keep { $0.append(new) }
    }

    mutating func written(shared new: SharedBytes) {
        keep { $0.append(new) }
    }

    private mutating func keep(_ append: (inout Kept) -> Void) {
        guard case .keeping(var kept, .open) = phase else { return }
        // So that `kept` has the only reference to its arrays.
        phase = .keeping(Kept(), .open)
        append(&kept)
        phase = .keeping(kept, .open)
    }

    mutating func ended(_ ending: Ending) {
        if case .keeping(let kept, .open) = phase { phase = .keeping(kept, ending) }
    }

    /// The next piece for an attempt, which is this transfer beneath; `nil`: everything was passed on, or the attempt has
    /// failed meanwhile.
    mutating func next(for attempt: Int, _ id: TransferID) -> Piece? {
        guard attempt == self.attempt else { return nil }
        switch phase {
        case .keeping(let kept, let ending) where kept.count > 0:
            phase = .keeping(Kept(), ending)
            return .parts(kept.parts)
        case .keeping(_, let ending):
            phase = .direct(id)
            switch ending {
            case .open: return nil
            case .finished: return .finish
            case .failed: return .fail
            }
        case .direct: return nil
        case .stale:
            phase = .stale(id)
            return nil
        }
    }

    /// The attempt has failed, and another one follows. Returns what is dropped. The caller releases it after the lock:
    /// the release may free memory of the user.
    mutating func attemptFailed(_ attempt: Int) -> [Part] {
        self.attempt = attempt + 1
        return drop()
    }

    /// The call is over. Returns what is dropped, as ``attemptFailed(_:)`` does.
    mutating func closed() -> [Part] {
        // No attempt follows that the caller could write to.
        attempt = .max
        return drop()
    }

    private mutating func drop() -> [Part] {
        defer { phase = .stale(nil) }
        if case .keeping(let kept, _) = phase { return kept.parts }
        return []
    }

    /// What is written from now on belongs to the attempt after this one. The caller may answer a failure late, when the
    /// next attempt has failed too.
    mutating func restarted(after attempt: Int) {
        guard self.attempt != .max, attempt == self.attempt - 1, case .stale(let id) = phase else { return }
        phase = id.map { .direct($0) } ?? .keeping(Kept(), .open)
    }
}

extension UploadBacklog.Part {
    /// Passes the bytes on as they were written.
    func write(to id: TransferID, of transport: any Transport) {
        switch self {
        case .bytes(let bytes): bytes.withUnsafeBytes { transport.write($0, to: id) }
        case .shared(let bytes): transport.write(shared: bytes, to: id)
        }
    }
}
