extension RequestBody {
    /// The bytes of a source, read while they are sent.
    public static func source(
        _ source: any RequestBodySource, contentType: String? = "application/octet-stream"
    ) -> RequestBody {
        RequestBody(.source(source), contentType: contentType)
    }

    /// The chunks of an asynchronous sequence, each sent as it arrives, `length` bytes in total (`nil`: not known).
    /// `make` is called for each transfer, so that redirects and retries can resend the body.
    public static func stream<S: AsyncSequence>(
        length: Int64? = nil, contentType: String? = "application/octet-stream",
        _ make: @escaping @Sendable () throws -> S
    ) -> RequestBody where S.Element: Collection<UInt8> {
        source(SequenceBodySource(length: length, isReplayable: true, make), contentType: contentType)
    }

    /// The chunks of a sequence that can be read once. A redirect or retry that needs the body again ends with
    /// ``ErrandError/uploadNotReplayable``, and so does a second start.
    public static func stream<S: AsyncSequence & Sendable>(
        _ sequence: S, length: Int64? = nil, contentType: String? = "application/octet-stream"
    ) -> RequestBody where S.Element: Collection<UInt8> {
        let once = OneShot(sequence)
        return source(
            SequenceBodySource(length: length, isReplayable: false) { try once.take() }, contentType: contentType)
    }
}

extension RequestBody {
    /// `multipart/form-data` of these parts, for any method. Without parts the request has no body. The length is exact
    /// if every part has one. ``Command/parameters`` that belong in a body become parts before these.
    ///
    /// `boundary` `nil`: `Boundary+` and 32 hexadecimal digits. If all parts are in memory, equal parts have the same
    /// boundary, because caches need that; otherwise the boundary is random and new for each start.
    public static func multipart(_ parts: [MultipartPart], boundary: String? = nil) -> RequestBody {
        RequestBody(.multipart(parts, boundary: boundary), contentType: nil)
    }

    /// The same with a result builder:
    ///
    /// ```swift
    /// var body: RequestBody {
    ///     .multipart {
    ///         MultipartPart.string("Ada", name: "name")
    ///         MultipartPart.file("/tmp/ada.png", name: "picture")
    ///     }
    /// }
    /// ```
    public static func multipart(
        boundary: String? = nil, @MultipartBuilder _ parts: () throws -> [MultipartPart]
    ) rethrows -> RequestBody {
        multipart(try parts(), boundary: boundary)
    }
}

extension RequestBody {
    /// The body, compressed by gzip, with `Content-Encoding: gzip`. The server has to support that; there is no
    /// negotiation.
    ///
    /// A body in memory is compressed when the request is built, and has an exact length. A file or source is
    /// compressed while it is sent, and has no known length. `level`: 1, fast, to 9, small; any other value is
    /// ``ErrandError/invalidOption``.
    public func gzipped(level: Int = 6) -> RequestBody {
        RequestBody(.gzip(self, level: level), contentType: nil)
    }
}
