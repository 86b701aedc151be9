public import FoundationEssentials
public import HTTPTypes

extension Response {
    /// A response's body: a view that keeps the engine's memory alive.
    public struct Body: Sendable {
        let storage: ResponseStorage

        /// The number of bytes.
        public var count: Int { storage.body.count }

        /// Whether the body has no bytes.
        public var isEmpty: Bool { storage.body.isEmpty }

        /// Calls `read` with the bytes in place. The pointer must not leave the closure.
        public func withBytes<Result, Failure: Error>(
            _ read: (UnsafeRawBufferPointer) throws(Failure) -> Result
        ) throws(Failure) -> Result {
            let result = try read(storage.body)
            withExtendedLifetime(storage) {}
            return result
        }

        /// A copy of the bytes.
        public var bytes: [UInt8] { withBytes { [UInt8]($0) } }

        /// The bytes as `Data`. A body of 64 bytes or more shares the memory of the response and keeps it alive; writing
        /// copies first. If a `ByteBuffer` of `ErrandNIO` shares the memory already, `data` is a copy, which is made once.
        public var data: Data {
            storage.data
        }

        /// The object that owns the memory of the bytes. For a type that shares the memory, and copies it before a change
        /// while others refer to the object. After this call `data` is a copy. `nil`, and nothing has changed: the memory
        /// is the engine's own, `data` shares it already, or `isWanted` returns false for the owner. Any thread.
        package func shareOwner(where isWanted: (AnyObject) -> Bool) -> AnyObject? {
            storage.shareOwner(where: isWanted)
        }
    }
}

extension Response {
    /// The same response with another body, as ``StepwiseInterceptor/transform(_:in:)`` returns it after decrypting or
    /// unwrapping. Status line, trailer fields and metrics stay.
    ///
    /// - Parameters:
    ///   - body: The new body.
    ///   - headers: The new fields. Default, `nil`: the original fields stay, including those about the original body
    ///     (`Content-Length`, `Content-Type`).
    public func replacing(body: [UInt8], headers: HTTPFields? = nil) -> Response {
        var head = Array(storage.head)
        if let headers {
            let statusLine = head.prefix { $0 != 0x0A }
            head = statusLine + [0x0A] + HeaderBlock(headers).bytes
        }
        var response = Response(
            storage: OwnedResponseStorage(
                statusCode: statusCode, head: head, body: body, metrics: metrics, trailers: Array(storage.trailers),
                attachment: attachment as? ResponseMark))
        response.decoder = decoder
        return storage.cacheInfo.map(response.marked) ?? response
    }
}
