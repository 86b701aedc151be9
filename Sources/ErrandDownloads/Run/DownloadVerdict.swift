/// What a response's head means for the requested bytes. A pure function, for one connection or several.
enum DownloadVerdict: Equatable {
    /// The body is the requested content and ends at this position; `nil`: it ends when the transfer ends.
    case take(end: Int64?)
    /// The body is the whole content although a part was requested: the bytes in the part are dropped.
    case takeFromZero(end: Int64?)
    /// All bytes are there already.
    case complete
    /// The bytes in the part, or the response, belong to another content or cannot be joined: start from zero.
    case restart
    case retry(after: Duration?, ErrandError)
    case fail(ErrandError)
}

/// A request of a download.
struct DownloadAsk: Sendable, Hashable {
    /// Counted over the download's life, to tell a late event of an earlier transfer from an event of the present one.
    var transfer: Int
    /// The position of the first received byte in the file.
    var offset: Int64 = 0
    /// The position behind the last requested byte; `nil`: up to the end of the content.
    var end: Int64?
    var ifRange: String?

    /// The `Range` field to send; `nil` if the whole content is requested.
    var range: String? {
        guard isRanged else { return nil }
        return "bytes=\(offset)-" + (end.map { String($0 - 1) } ?? "")
    }

    var isRanged: Bool { offset > 0 || end != nil }
}

extension DownloadVerdict {
    /// - Parameters:
    ///   - validators: The validators of the content in the part.
    ///   - length: The length of that content, if it is known.
    static func on(
        _ head: DownloadHead, to ask: DownloadAsk, validators: DownloadValidators, length: Int64?,
        policy: DownloadPolicy
    ) -> DownloadVerdict {
        if policy.retryableStatusCodes.contains(head.statusCode) {
            return .retry(after: head.retryAfter, refused(head.statusCode))
        }
        switch head.statusCode {
        case 200, 206:
            // A range of encoded bytes cannot be decoded, and does not continue the bytes in the part.
            if head.isEncoded, head.statusCode == 206, ask.isRanged { return .restart }
            return head.statusCode == 200
                ? whole(head, to: ask, policy) : part(head, to: ask, validators, length, policy)
        case 416 where ask.isRanged:
            return beyond(head, to: ask, validators, length, policy)
        default:
            return .fail(refused(head.statusCode))
        }
    }

    private static func whole(
        _ head: DownloadHead, to ask: DownloadAsk, _ policy: DownloadPolicy
    ) -> DownloadVerdict {
        if let mismatch = mismatch(head.contentLength, policy) { return .fail(mismatch) }
        return ask.isRanged ? .takeFromZero(end: head.contentLength) : .take(end: head.contentLength)
    }

    private static func part(
        _ head: DownloadHead, to ask: DownloadAsk, _ validators: DownloadValidators, _ length: Int64?,
        _ policy: DownloadPolicy
    ) -> DownloadVerdict {
        // RFC 9110 15.3.7: a 206 is only valid as the answer to a range. The server cannot be used for this download.
        guard ask.isRanged else {
            return .fail(.malformedResponse.with(message: "the server sent status 206, but no range was requested"))
        }
        guard !head.isMultipart, let contentRange = head.contentRange, let range = contentRange.range,
            range.lowerBound == ask.offset, range.upperBound <= ask.end ?? .max,
            head.contentLength.map({ $0 == range.count }) ?? true
        else { return .restart }
        if validators.contradicts(head.validators) { return .restart }
        if let length, range.upperBound > length || contentRange.total.map({ $0 != length }) == true { return .restart }
        if let mismatch = mismatch(contentRange.total, policy) { return .fail(mismatch) }
        // The server may send fewer bytes than requested; the rest is requested afterwards.
        return .take(end: range.upperBound)
    }

    /// A 416. With `If-Range` it means that the content is unchanged; otherwise the server would have sent a 200.
    private static func beyond(
        _ head: DownloadHead, to ask: DownloadAsk, _ validators: DownloadValidators, _ length: Int64?,
        _ policy: DownloadPolicy
    ) -> DownloadVerdict {
        guard ask.end == nil, let total = head.contentRange?.total, total == ask.offset, total == length ?? total,
            !validators.contradicts(head.validators)
        else { return .restart }
        return mismatch(total, policy).map { .fail($0) } ?? .complete
    }

    /// The error if the content has the given length and another length is expected.
    static func mismatch(_ length: Int64?, _ policy: DownloadPolicy) -> ErrandError? {
        guard let length, let expected = policy.expectedLength, length != expected else { return nil }
        return .lengthMismatch.with(message: "the content has \(length) bytes, expected \(expected)")
    }

    private static func refused(_ statusCode: Int) -> ErrandError {
        StatusCodes.of([200, 206]).error(for: statusCode)
    }
}
