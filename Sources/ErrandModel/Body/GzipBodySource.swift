/// Another source, compressed while it is sent; the length is not known in advance.
struct GzipBodySource: RequestBodySource {
    let source: any RequestBodySource
    let level: Int

    /// Throws ``ErrandError/invalidOption``.
    init(_ source: any RequestBodySource, level: Int) throws(ErrandError) {
        _ = try Deflater(level: level)
        self.source = source
        self.level = level
    }

    var length: Int64? { nil }
    var isReplayable: Bool { source.isReplayable }

    func open() throws -> sending any BodyReader {
        let deflater = try Deflater(level: level)
        return Reader(LengthCheckingReader(try source.open(), length: source.length), deflater)
    }

    private final class Reader: BodyReader {
        private let reader: any BodyReader
        private let deflater: Deflater
        private var output: ArraySlice<UInt8> = []
        private var isOver = false

        init(_ reader: any BodyReader, _ deflater: Deflater) {
            self.reader = reader
            self.deflater = deflater
        }

        func next(maximum: Int) async throws -> [UInt8]? {
            while output.isEmpty {
                if isOver { return nil }
                let bytes = try await reader.next(maximum: 64 * 1024)
                isOver = bytes == nil
                output = try deflater.compress(bytes ?? [], isLast: isOver)[...]
            }
            let bytes = output.prefix(max(1, maximum))
            output = output.dropFirst(bytes.count)
            return Array(bytes)
        }

        func close() {
            reader.close()
        }
    }
}
