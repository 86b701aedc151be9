import CErrand

extension errand_group_init {
    /// Options with all defaults. A zeroed C struct is not a valid value in Swift, because `on_records` must not be
    /// NULL.
    init(
        options: OpaquePointer, loops: Int, context: UnsafeMutableRawPointer?,
        onRecords: @escaping errand_record_callback
    ) {
        self.init(
            loops: UInt32(clamping: loops), queue_capacity: 0, in_flight_limit: 0, origin_in_flight_limit: 0,
            shard_in_flight_limit: 0, limit_header_bytes: 0, limit_header_count: 0, limit_body_bytes: 0,
            limit_decoded_bytes: 0, options: options, cookies: .off, cookie_file: nil, on_records: onRecords,
            context: context, on_stopped: nil,
            address_filter: nil, address_filter_context: nil, allow_denied_library: 0)
    }
}
