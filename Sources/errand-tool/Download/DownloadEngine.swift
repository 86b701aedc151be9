import CErrand
import Errand
import Foundation

/// The core, with one loop, for downloads to files: their bodies are streamed, so neither memory nor
/// `--max-body` bounds them.
///
/// `@unchecked Sendable`: both pointers are set in the initialiser and safe to use from any thread by the core's
/// contract; `shutDown` is called once, when no download is left.
final class DownloadEngine: @unchecked Sendable {
    private let group: OpaquePointer
    private let settings: FetchSettings

    init(_ settings: FetchSettings) throws(ToolError) {
        self.settings = settings
        let options = try CoreOptions.make(settings.connection)
        defer { errand_options_release(options) }
        var initial = errand_group_init(options: options, loops: 1, context: nil) { _, records, count in
            for record in UnsafeMutableBufferPointer(start: records, count: count) {
                Download.take(record)
            }
        }
        var created: OpaquePointer?
        let status = errand_group_create(&initial, &created)
        guard status == .ok, let created else { throw ToolError(status) }
        group = created
    }

    /// Sends one hop of a download. The tag owns the download until the completion record, of which each accepted
    /// request gets exactly one.
    func submit(
        _ download: Download, _ description: RequestDescription, total: Duration?
    ) -> (status: errand_status, id: UInt64) {
        var item = errand_request()
        item.flags = UInt32(ERRAND_REQUEST_STREAM_RESPONSE)
        item.response_credit = Download.credit
        item.timeout_connect = CoreTime.milliseconds(settings.timeouts.connect)
        item.timeout_first_byte = CoreTime.milliseconds(settings.timeouts.firstByte)
        item.timeout_idle = CoreTime.milliseconds(settings.timeouts.idle)
        item.timeout_total = CoreTime.milliseconds(total)
        item.limit_body_bytes = Int64(settings.bodyLimit ?? Download.bodyLimit)
        item.limit_decoded_bytes = item.limit_body_bytes
        var options: OpaquePointer?
        if let connection = description.settings.connection {
            // A hop to another origin, without the client certificate; the rest was accepted by the initialiser.
            options = try? CoreOptions.make(connection)
            guard options != nil else { return (.outOfMemory, 0) }
        }
        defer { errand_options_release(options) }
        item.options = options
        let owner = Unmanaged.passRetained(download)
        item.tag = UInt64(UInt(bitPattern: owner.toOpaque()))
        var url = description.url
        let accepted = url.withUTF8 { urlBytes in
            description.headers.bytes.withUnsafeBufferPointer { headerBytes in
                item.url = errand_bytes(data: urlBytes.baseAddress, length: urlBytes.count)
                item.headers = errand_bytes(data: headerBytes.baseAddress, length: headerBytes.count)
                return errand_submit(group, &item, 1)
            }
        }
        if accepted == 0 { owner.release() }
        return (item.status, item.id)
    }

    func grant(_ id: UInt64, _ bytes: UInt64) {
        // Refused only by a group that is ending, which ends the request by itself.
        _ = errand_grant(group, id, bytes)
    }

    func cancel(_ id: UInt64) {
        _ = errand_cancel(group, id)
    }

    func shutDown() async {
        await withCheckedContinuation { continuation in
            // Joining threads blocks, which a task's thread must not.
            Thread.detachNewThread { [self] in
                _ = errand_group_destroy(group)
                continuation.resume()
            }
        }
    }
}
