import CErrand
import Errand
import Foundation

/// Converts connection options to the core's options, for the parts of the tool that call the core directly.
enum CoreOptions {
    /// The caller owns the returned reference. Throws the error with which the core rejects an option.
    static func make(_ options: ConnectionOptions) throws(ToolError) -> OpaquePointer {
        let strings = CStrings()
        var initial = errand_options_init()
        initial.http_policy =
            switch options.httpVersion {
            case .automatic, nil: .automatic
            case .http1: .http1
            case .http2OverTLS: .http2OverTLS
            case .http2PriorKnowledge: .http2PriorKnowledge
            }
        initial.encodings = options.encodings?.rawValue ?? 0
        initial.ca_file = try strings.copy(options.tls.caFile?.value)
        initial.client_certificate = try strings.copy(options.tls.clientCertificate?.value)
        initial.client_key = try strings.copy(options.tls.clientKey?.value)
        initial.insecure_accept_any_certificate = options.tls.insecureAcceptAnyCertificate == true ? 1 : 0
        initial.insecure_accept_any_host_name = options.tls.insecureAcceptAnyHostName == true ? 1 : 0
        initial.key_log = options.tls.keyLog == .environment ? .environment : .off
        if case .url(let url, _) = options.proxy {
            initial.proxy_policy = .url
            initial.proxy_url = try strings.copy(url)
        }
        initial.unix_socket_path = try strings.copy(options.unixSocketPath?.value)
        var resolve: [UnsafePointer<CChar>?] = []
        for entry in options.resolveOverrides ?? [] { resolve.append(try strings.copy(entry)) }
        var created: OpaquePointer?
        let status = resolve.withUnsafeBufferPointer { entries in
            initial.resolve = entries.baseAddress
            initial.resolve_count = entries.count
            return errand_options_create(&initial, &created)
        }
        withExtendedLifetime(strings) {}
        guard status == .ok, let created else { throw ToolError(status) }
        return created
    }
}

/// C strings that live as long as this object.
private final class CStrings {
    private var copies: [UnsafeMutablePointer<CChar>] = []

    func copy(_ text: String?) throws(ToolError) -> UnsafePointer<CChar>? {
        guard let text else { return nil }
        guard !text.utf8.contains(0) else { throw ToolError(.usage, "an option contains a NUL") }
        guard let copy = strdup(text) else { throw ToolError(.system, "out of memory") }
        copies.append(copy)
        return UnsafePointer(copy)
    }

    deinit {
        for copy in copies { free(copy) }
    }
}

/// Converts durations to the core's time units.
enum CoreTime {
    /// Milliseconds, rounded up; 0 for none.
    static func milliseconds(_ duration: Duration?) -> Int64 {
        guard let duration else { return 0 }
        return Int64((duration.nanoseconds + 999_999) / 1_000_000)
    }
}

extension errand_group_init {
    /// Options with all defaults. A zeroed C struct is not a valid value in Swift, because `on_records` must not be
    /// NULL.
    init(
        options: OpaquePointer, loops: Int, context: UnsafeMutableRawPointer?,
        onRecords: @escaping errand_record_callback
    ) {
        self.init(
            loops: UInt32(clamping: loops), queue_capacity: 0, in_flight_limit: 0, origin_in_flight_limit: 0,
            shard_in_flight_limit: 0, max_concurrent_streams: 0, limit_header_bytes: 0, limit_header_count: 0,
            limit_body_bytes: 0,
            limit_decoded_bytes: 0, options: options, cookies: .off, cookie_file: nil, on_records: onRecords,
            context: context, on_stopped: nil,
            address_filter: nil, address_filter_context: nil, allow_denied_library: 0)
    }
}
