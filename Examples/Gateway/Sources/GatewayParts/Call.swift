package import HTTPTypes
import HummingbirdCore
package import NIOCore
import Synchronization

/// A caller's request as it is sent upstream.
package struct Call: Sendable {
    /// A body of up to this size is buffered, so that it can be resent. An answer of up to this size is written at
    /// once.
    package static let small = 16_384

    package let method: HTTPRequest.Method
    /// The path and the query. It begins with a slash.
    package let target: String
    package let fields: HTTPFields
    package let body: CallBody
}

/// The body of a caller's request.
package enum CallBody: Sendable {
    case none
    case whole(ByteBuffer)
    case streamed(Upload)

    init(_ request: Request) async throws {
        let length = request.headers[.contentLength].flatMap { Int64($0) }.map { max(0, $0) }
        if length == 0 || length == nil && !request.headers.contains(.transferEncoding) {
            self = .none
        } else if let length, length <= Call.small {
            self = .whole(try await request.body.collect(upTo: Int(length)))
        } else {
            self = .streamed(Upload(request.body, length: length))
        }
    }

    var upload: Upload? { if case .streamed(let upload) = self { upload } else { nil } }
}

/// A body that is read while it is sent upstream. It records whether it was read to its end.
package final class Upload: AsyncSequence, Sendable {
    package typealias Element = ByteBuffer

    /// `nil`: not known.
    package let length: Int64?
    private let body: RequestBody
    private let ended = Atomic<Bool>(false)

    init(_ body: RequestBody, length: Int64?) {
        self.body = body
        self.length = length
    }

    var isOver: Bool { ended.load(ordering: .acquiring) }

    package struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate var base: RequestBody.AsyncIterator
        fileprivate let upload: Upload
        fileprivate var count: Int64 = 0

        /// Does not request more than the body from the connection: the server reads on there when the answer is
        /// written.
        package mutating func next() async throws -> ByteBuffer? {
            if let length = upload.length, count >= length { return nil }
            let next = try await base.next()
            count += Int64(next?.readableBytes ?? 0)
            if next == nil || count == upload.length { upload.ended.store(true, ordering: .releasing) }
            return next
        }
    }

    package func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(base: body.makeAsyncIterator(), upload: self)
    }
}
