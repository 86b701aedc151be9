import CErrand
import Errand
import Foundation

/// Sends the load directly through the C interface: the record callback submits the next requests on the loop thread, a
/// batch at a time.
///
/// `@unchecked Sendable`: `group` is set once, in the initialiser, before the first request is submitted. Records, and
/// therefore other threads, only come after that. The group's functions may be called on any thread. `shutDown` is
/// called last, when the open loop's thread and the clock have ended.
final class CoreEngine: BenchEngine, @unchecked Sendable {
    private(set) var loops = 0
    private var group: OpaquePointer?
    private let request: CoreRequest
    private let load: BenchLoad

    /// A request's tag is the time of its ticket. If this bit is set, the end of the request starts the next one.
    private static let repeats: UInt64 = 1 << 63

    /// The group refers to the engine without owning it: `shutDown` joins the loop threads before the engine is
    /// released.
    init(_ plan: BenchPlan, load: BenchLoad) throws(ToolError) {
        request = try CoreRequest(plan)
        self.load = load
        let options = try CoreOptions.make(plan.connection)
        defer { errand_options_release(options) }
        let context = Unmanaged.passUnretained(self).toOpaque()
        var initial = errand_group_init(options: options, loops: plan.loops, context: context) {
            context, records, count in
            guard let context else { return }
            let engine = Unmanaged<CoreEngine>.fromOpaque(context).takeUnretainedValue()
            engine.take(UnsafeMutableBufferPointer(start: records, count: count))
        }
        initial.queue_capacity = UInt32(max(65_536, plan.connections))
        initial.in_flight_limit = UInt32(plan.connections)
        initial.origin_in_flight_limit = UInt32(plan.connections)
        initial.max_concurrent_streams = UInt32(plan.streams ?? 0)
        let status = errand_group_create(&initial, &group)
        guard status == .ok, let group else { throw ToolError(status) }
        var stats = errand_stats()
        errand_group_stats(group, &stats)
        loops = Int(stats.loops)
    }

    func run(_ load: BenchLoad, count: Int) {
        var tags: [UInt64] = []
        for _ in 0..<count {
            guard let ticket = load.begin() else { break }
            tags.append(ticket.time | CoreEngine.repeats)
        }
        submit(tags)
    }

    func send(_ ticket: BenchLoad.Ticket, _ load: BenchLoad) {
        submit([ticket.time])
    }

    /// The core sends each request once.
    var resilience: ResilienceParts.Counts? { nil }

    func cancel() {
        guard let group else { return }
        _ = errand_group_stop(group, .cancel, 0)
    }

    func shutDown() async {
        await withCheckedContinuation { continuation in
            // Joining threads blocks, and a task's thread must not block.
            Thread.detachNewThread { [self] in
                _ = errand_group_destroy(group)
                group = nil
                continuation.resume()
            }
        }
    }

    private func take(_ records: UnsafeMutableBufferPointer<errand_record>) {
        var tags: [UInt64] = []
        tags.reserveCapacity(records.count)
        for record in records {
            if record.kind == Int32(errand_record_kind.completion.rawValue) {
                let ticket = BenchLoad.Ticket(time: record.tag & ~CoreEngine.repeats)
                let outcome = BenchLoad.Outcome(record)
                if record.tag & CoreEngine.repeats == 0 {
                    load.end(ticket, outcome)
                } else if let next = load.endAndBegin(ticket, outcome) {
                    tags.append(next.time | CoreEngine.repeats)
                }
            }
            errand_payload_free(record.payload)
        }
        submit(tags)
    }

    private func submit(_ tags: [UInt64]) {
        guard let group, !tags.isEmpty else { return }
        withUnsafeTemporaryAllocation(of: errand_request.self, capacity: tags.count) { items in
            for (index, tag) in tags.enumerated() {
                items.initializeElement(at: index, to: request.template)
                items[index].tag = tag
            }
            guard errand_submit(group, items.baseAddress.unsafelyUnwrapped, tags.count) != tags.count else { return }
            for item in items where item.status != .ok {
                let note = BenchLoad.ErrorNote(
                    ToolError(item.status), wait: item.status == .queueFull ? .toTheRunsEnd : .none)
                load.end(BenchLoad.Ticket(time: item.tag & ~CoreEngine.repeats), BenchLoad.Outcome(error: note))
                // The refused request will not end and start the next one, so the closed loop would never finish.
                if item.tag & CoreEngine.repeats != 0 { load.stop() }
            }
        }
    }
}

extension BenchLoad.Outcome {
    init(_ record: errand_record) {
        guard record.status == Int32(errand_status.ok.rawValue) else {
            let words = record.payload.map { payload -> String in
                let text = errand_payload_error_text(payload)
                return String(decoding: UnsafeRawBufferPointer(start: text.data, count: text.length), as: UTF8.self)
            }
            let status = errand_status(rawValue: UInt32(bitPattern: record.status)) ?? .internal
            self.init(bytes: record.bytes_received, error: BenchLoad.ErrorNote(ToolError(status, words: words)))
            return
        }
        self.init(status: Int(record.http_status), bytes: record.bytes_received)
    }
}
