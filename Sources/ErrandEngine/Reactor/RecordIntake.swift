import CErrand
import HTTPTypes

/// Turns the records of one loop turn into events, on the loop thread, and delivers them in one call.
enum RecordIntake {
    static func take(_ records: UnsafeMutableBufferPointer<errand_record>) {
        // Each record must be turned into an event exactly once, because that releases its reference; `deliver`
        // iterates once.
        guard hasResends(records) else { return TransferReceiver.deliver(records.lazy.map(event)) }
        var events: [TransferEvent] = []
        events.reserveCapacity(records.count + 1)
        for record in records {
            let resends = [(record.resends, Resend.connection), (record.rounds, Resend.authentication)]
            for (count, reason) in resends {
                for _ in 0..<count {
                    // Borrowed: `event` below takes the reference back if this is the last record.
                    events.append(
                        TransferEvent(receiver(record.tag).takeUnretainedValue(), .resending(reason)))
                }
            }
            events.append(event(record))
        }
        TransferReceiver.deliver(events)
    }

    /// Whether libcurl has resent a request by itself. Seldom true.
    private static func hasResends(_ records: UnsafeMutableBufferPointer<errand_record>) -> Bool {
        for index in records.indices where records[index].resends | records[index].rounds != 0 { return true }
        return false
    }

    /// The tag of a record is a reference that the submission retained. The completion record takes it back: the core
    /// gives every accepted request exactly one, as its last record. The records before it borrow the reference.
    private static func event(_ record: errand_record) -> TransferEvent {
        let reference = receiver(record.tag)
        let storage = PayloadStorage(record)
        switch UInt32(bitPattern: record.kind) {
        case errand_record_kind.head.rawValue:
            return TransferEvent(reference.takeUnretainedValue(), .head(response(storage)))
        case errand_record_kind.chunk.rawValue:
            return TransferEvent(reference.takeUnretainedValue(), .chunk(response(storage)))
        case errand_record_kind.uploadCredit.rawValue:
            return TransferEvent(reference.takeUnretainedValue(), .uploadCredit(record.bytes_sent))
        case errand_record_kind.started.rawValue:
            return TransferEvent(reference.takeUnretainedValue(), .started)
        case errand_record_kind.sent.rawValue:
            return TransferEvent(reference.takeUnretainedValue(), .sent)
        case errand_record_kind.connected.rawValue:
            return TransferEvent(
                reference.takeUnretainedValue(), .connected(storage?.connection ?? ConnectionTrace()))
        case errand_record_kind.progress.rawValue:
            return TransferEvent(reference.takeUnretainedValue(), .progress(TransferProgress(record)))
        default:
            let receiver = reference.takeRetainedValue()
            guard record.status == 0 else {
                let error = ErrandError(
                    record: record, response: record.http_status == 0 ? nil : storage.map(Response.init),
                    text: storage?.errorText)
                return TransferEvent(receiver, .ended(.failure(error)))
            }
            // Head and body of a streamed response were delivered before.
            let whole =
                storage.map(Response.init)
                ?? Response(
                    statusCode: Int(record.http_status), headers: HTTPFields(), metrics: TransferMetrics(record))
            return TransferEvent(receiver, .ended(.response(whole)))
        }
    }

    private static func response(_ storage: PayloadStorage?) -> Response {
        storage.map(Response.init) ?? Response(statusCode: 0)
    }

    @inline(__always)
    private static func receiver(_ tag: UInt64) -> Unmanaged<TransferReceiver> {
        // Never zero: `tag(for:)` made the tag from the address of a live object.
        Unmanaged.fromOpaque(UnsafeRawPointer(bitPattern: UInt(tag)).unsafelyUnwrapped)
    }

    /// Owns: the tag holds a reference that `event` releases, or `discard` if the core refuses the request.
    @inline(__always)
    static func tag(for receiver: TransferReceiver) -> UInt64 {
        UInt64(UInt(bitPattern: Unmanaged.passRetained(receiver).toOpaque()))
    }

    /// For a tag that the core did not accept.
    static func discard(_ tag: UInt64) {
        receiver(tag).release()
    }
}

extension TransferProgress {
    fileprivate init(_ record: errand_record) {
        // Negative if the length is not known; `UInt64(exactly:)` then is `nil`.
        self.init(
            bytesSent: record.bytes_sent, bytesReceived: record.bytes_received,
            bytesToSend: UInt64(exactly: record.totals.to_send),
            bytesToReceive: UInt64(exactly: record.totals.to_receive))
    }
}
