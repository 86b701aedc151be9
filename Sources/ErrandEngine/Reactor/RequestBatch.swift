import CErrand

/// The C form of several descriptions, for one `errand_submit`. The memory that they point to is copied, because two
/// Swift values cannot be borrowed for longer than a closure.
struct RequestBatch {
    var requests: [errand_request] = []
    private var copies: [UnsafeMutableRawPointer] = []

    /// Owns: `free` releases `options`.
    mutating func add(_ description: RequestDescription, options: OpaquePointer?, tag: UInt64) {
        var request = description.withCRequest { borrowed in
            var request = borrowed
            request.method = copy(borrowed.method)
            request.url = copy(borrowed.url)
            request.headers = copy(borrowed.headers)
            request.body = copy(borrowed.body)
            request.body_path = copy(borrowed.body_path)
            request.username = copy(borrowed.username)
            request.password = copy(borrowed.password)
            return request
        }
        request.options = options
        request.tag = tag
        requests.append(request)
    }

    private mutating func copy(_ bytes: errand_bytes) -> errand_bytes {
        guard let data = bytes.data, bytes.length > 0 else { return bytes }
        let copy = UnsafeMutableRawPointer.allocate(byteCount: bytes.length, alignment: 1)
        copy.copyMemory(from: data, byteCount: bytes.length)
        copies.append(copy)
        return errand_bytes(data: copy.assumingMemoryBound(to: UInt8.self), length: bytes.length)
    }

    private mutating func copy(_ text: UnsafePointer<CChar>?) -> UnsafePointer<CChar>? {
        guard let text else { return nil }
        var length = 1
        while text[length - 1] != 0 { length += 1 }
        let copy = UnsafeMutableRawPointer.allocate(byteCount: length, alignment: 1)
        copy.copyMemory(from: text, byteCount: length)
        copies.append(copy)
        return UnsafePointer(copy.assumingMemoryBound(to: CChar.self))
    }

    /// Called after `errand_submit`, which has copied what it needs.
    func free() {
        for copy in copies { copy.deallocate() }
        for request in requests { errand_options_release(request.options) }
    }
}
