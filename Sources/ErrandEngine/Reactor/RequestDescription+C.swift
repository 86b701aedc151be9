import CErrand
import FoundationEssentials
import HTTPTypes

extension RequestDescription {
    /// Calls `body` with the C form of the description. All its pointers are into this value and valid during the call;
    /// `errand_submit` copies, except shared bytes, which it borrows.
    func withCRequest<Result>(_ body: (inout errand_request) -> Result) -> Result {
        var request = errand_request()
        settings.write(to: &request)
        request.priority = settings.priority.cValue
        if options.contains(.freshConnection) { request.flags |= UInt32(ERRAND_REQUEST_FRESH_CONNECTION) }
        if options.contains(.allowReplay) { request.flags |= UInt32(ERRAND_REQUEST_ALLOW_REPLAY) }
        if options.contains(.withoutCookies) { request.flags |= UInt32(ERRAND_REQUEST_NO_COOKIES) }
        if options.contains(.discardsBody) { request.flags |= UInt32(ERRAND_REQUEST_DISCARD_BODY) }
        if options.contains(.countsHeads) { request.flags |= UInt32(ERRAND_REQUEST_COUNT_HEADS) }
        if options.contains(.webSocket) { request.flags |= UInt32(ERRAND_REQUEST_WEBSOCKET) }
        if options.contains(.bodyMemory), options.isDisjoint(with: [.discardsBody, .webSocket]) {
            BodyMemories.use(for: &request, isWhole: delivery == .buffered)
        }
        if delivery == .streamed { request.flags |= UInt32(ERRAND_REQUEST_STREAM_RESPONSE) }
        if !reports.isEmpty { request.flags |= reports.cFlags }
        switch authentication {
        case nil:
            return withText(&request, body)
        case .digest(var username, var password):
            return username.withUTF8 { username in
                password.withUTF8 { password in
                    request.authentication = .digest
                    request.username = errand_bytes(username)
                    request.password = errand_bytes(password)
                    return withText(&request, body)
                }
            }
        }
    }

    @inline(__always)
    private func withText<Result>(_ request: inout errand_request, _ body: (inout errand_request) -> Result) -> Result {
        // Outside of the core the URL keeps the handshake's scheme, http or https, which policies and origins use.
        var url = options.contains(.webSocket) ? "ws" + url.dropFirst(4) : url
        return url.withUTF8 { url in
            request.url = errand_bytes(url)
            return headers.bytes.withUnsafeBufferPointer { headers in
                request.headers = errand_bytes(headers)
                if method == .get { return withBody(&request, body) }
                var method = method.rawValue
                return method.withUTF8 { method in
                    request.method = errand_bytes(method)
                    return withBody(&request, body)
                }
            }
        }
    }

    @inline(__always)
    private func withBody<Result>(_ request: inout errand_request, _ body: (inout errand_request) -> Result) -> Result {
        switch self.body {
        case .none:
            return body(&request)
        case .bytes(let bytes):
            return bytes.withUnsafeBufferPointer { bytes in
                request.body_kind = .memory
                request.body = errand_bytes(bytes)
                return body(&request)
            }
        case .data(let data):
            return data.withUnsafeBytes { bytes in
                request.body_kind = .memory
                request.body = errand_bytes(bytes.bindMemory(to: UInt8.self))
                return body(&request)
            }
        case .shared(let bytes):
            let loan = SharedBytes.Loan(bytes)
            request.body_kind = .memory
            request.body = loan.bytes
            request.body_release = SharedBytes.Loan.release
            request.body_release_context = loan.context
            let result = body(&request)
            // The core gives nothing back of a request that it has not accepted.
            if request.id == 0 { loan.takeBack() }
            return result
        case .file(let path, let offset, let length):
            return path.withCString { path in
                request.body_kind = .file
                request.body_path = path
                request.body_offset = offset
                request.body_length = length ?? -1
                return body(&request)
            }
        case .stream(let length):
            request.body_kind = .stream
            request.body_length = length ?? -1
            return body(&request)
        case .source(let source):
            request.body_kind = .stream
            request.body_length = source.length ?? -1
            return body(&request)
        }
    }
}

extension RequestDescription.Reports {
    fileprivate var cFlags: UInt32 {
        var flags = 0
        if contains(.events) { flags |= ERRAND_REQUEST_REPORT_EVENTS }
        if contains(.progress) { flags |= ERRAND_REQUEST_REPORT_PROGRESS }
        if contains(.connection) { flags |= ERRAND_REQUEST_REPORT_CONNECTION }
        return UInt32(flags)
    }
}

extension TransferSettings {
    @inline(__always)
    fileprivate func write(to request: inout errand_request) {
        request.timeout_queue = queueTimeout
        request.timeout_connect = connectTimeout
        request.timeout_first_byte = firstByteTimeout
        request.timeout_idle = idleTimeout
        request.timeout_total = totalTimeout
        request.limit_header_bytes = headerBytes
        request.limit_header_count = headerCount
        request.limit_body_bytes = bodyBytes
        request.limit_decoded_bytes = decodedBytes
    }
}

extension Priority {
    fileprivate var cValue: errand_priority {
        switch self {
        case .low: .low
        case .normal: .normal
        case .high: .high
        }
    }
}

extension errand_bytes {
    @inline(__always)
    fileprivate init(_ buffer: UnsafeBufferPointer<UInt8>) {
        self.init(data: buffer.baseAddress, length: buffer.count)
    }
}
