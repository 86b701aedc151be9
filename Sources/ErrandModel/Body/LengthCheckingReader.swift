/// Checks that a reader returns as many bytes as its source declares. In a composite body a wrong length would shift
/// all pieces that follow.
final class LengthCheckingReader: BodyReader {
    private let reader: any BodyReader
    private let length: Int64?
    private var count: Int64 = 0

    init(_ reader: any BodyReader, length: Int64?) {
        self.reader = reader
        self.length = length
    }

    func next(maximum: Int) async throws -> [UInt8]? {
        let bytes = try await reader.next(maximum: maximum)
        guard let length else { return bytes }
        count += Int64(bytes?.count ?? 0)
        guard count <= length, bytes != nil || count == length else {
            let relation = count > length ? "more" : "fewer"
            throw ErrandError.invalidBody.with(
                message: "the body's source returned \(relation) than its length of \(length) bytes")
        }
        return bytes
    }

    func close() {
        reader.close()
    }
}
