extension RequestBody {
    /// What a source gives while it is sent.
    public static func source(
        _ source: any RequestBodySource, contentType: String? = "application/octet-stream"
    ) -> RequestBody {
        RequestBody(.source(source), contentType: contentType)
    }

    /// The chunks of an asynchronous sequence, each sent as it comes, `length` bytes in all (`nil`: not known). `make` is
    /// called for each transfer, so that redirects and retries can send the body again.
    public static func stream<S: AsyncSequence>(
        length: Int64? = nil, contentType: String? = "application/octet-stream",
        _ make: @escaping @Sendable () throws -> S
    ) -> RequestBody where S.Element: Collection<UInt8> {
        source(SequenceBodySource(length: length, isReplayable: true, make), contentType: contentType)
    }

    /// The same of a sequence that can be read once: a redirect or retry that needs the body again ends with
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
    /// `multipart/form-data` of these parts, for any method. Without a part it is no body at all. Its length is exact where
    /// every part has one. ``Command/parameters`` that belong in a body become parts before these.
    ///
    /// `boundary` `nil`: `Boundary+` and 32 hexadecimal digits; the same for the same parts where all are in memory, as
    /// caches need it, and random, new for each start, where they are not.
    public static func multipart(_ parts: [MultipartPart], boundary: String? = nil) -> RequestBody {
        RequestBody(.multipart(parts, boundary: boundary), contentType: nil)
    }

    /// The same, listed:
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
    /// The body, compressed by gzip, with `Content-Encoding: gzip`; the server has to understand that, as nothing asks it.
    ///
    /// A body in memory is compressed when the request is built and has an exact length; a file or source is compressed
    /// while it is sent and has none. `level`: 1, fast, to 9, small; anything else is ``ErrandError/invalidOption``.
    public func gzipped(level: Int = 6) -> RequestBody {
        RequestBody(.gzip(self, level: level), contentType: nil)
    }
}
