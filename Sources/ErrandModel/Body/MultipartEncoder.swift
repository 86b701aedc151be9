import FoundationEssentials
import HTTPTypes

/// The bytes of multipart parts on the wire (RFC 2046 5.1.1).
struct MultipartEncoder {
    private let boundary: String
    private var pieces: [CompositeBodySource.Piece] = []
    /// The bytes after the last source.
    private var bytes: [UInt8] = []

    /// `boundary` `nil`: `Boundary+` (as AFNetworking's) and 32 hexadecimal digits. If all `parts` are in memory, the digits
    /// are from their SHA-256, so that equal parts give equal bytes; otherwise they are random. The author of a part cannot
    /// put the boundary into the part: the boundary is 128 bits of a digest that changes with every byte. Throws
    /// ``ErrandError/invalidBody`` for a boundary that RFC 2046 does not allow.
    init(boundary: String?, for parts: [MultipartPart]) throws(ErrandError) {
        guard let boundary else {
            let digits = Self.digest(of: parts) ?? (0..<32).map { _ in UInt8.random(in: 0...255) }
            self.boundary = "Boundary+" + SHA256.hex(Array(digits.prefix(16)))
            return
        }
        guard (1...70).contains(boundary.utf8.count), boundary.utf8.allSatisfy(Self.isBoundaryByte),
            boundary.utf8.last != 0x20
        else {
            throw ErrandError.invalidBody.with(
                message: "\(boundary.debugDescription) is not a valid multipart boundary")
        }
        self.boundary = boundary
    }

    /// `nil` if a part's content is not in memory, or libcrypto fails.
    private static func digest(of parts: [MultipartPart]) -> [UInt8]? {
        guard var hash = SHA256() else { return nil }
        for part in parts {
            let head = HeaderBlock(part.headers).bytes
            guard hash.update(UInt64(head.count)), hash.update(head) else { return nil }
            let isTaken: Bool
            switch part.content {
            case .bytes(let content): isTaken = hash.update(UInt64(content.count)) && hash.update(content)
            case .data(let content):
                isTaken = hash.update(UInt64(content.count)) && content.withUnsafeBytes { hash.update($0) }
            case .file, .source: return nil
            }
            guard isTaken else { return nil }
        }
        return hash.finish()
    }

    private static func isBoundaryByte(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        default: "'()+_,-./:=? ".utf8.contains(byte)
        }
    }

    /// The boundary as a parameter of a media type, quoted where necessary.
    var boundaryValue: String {
        let isToken = boundary.utf8.allSatisfy { !"(),/:=? ".utf8.contains($0) }
        return isToken ? boundary : "\"\(boundary)\""
    }

    /// Throws ``ErrandError/invalidHeader`` for fields with line breaks or NUL, and ``ErrandError/fileUnreadable``.
    mutating func add(_ part: MultipartPart) throws(ErrandError) {
        guard !part.isMalformed else {
            throw ErrandError.invalidHeader.with(message: "the name or type of a part contains a CR, LF or NUL")
        }
        bytes += "--\(boundary)\r\n".utf8
        for field in part.headers { bytes.appendLine(field) }
        bytes += [0x0D, 0x0A]
        switch part.content {
        case .bytes(let content): bytes += content
        case .data(let content): bytes += content
        case .file(let path): add(try FileBodySource(path: path))
        case .source(let source):
            if let length = source.length, length < 0 {
                throw ErrandError.invalidBody.with(message: "the length of a part is \(length), expected 0 or more")
            }
            add(source)
        }
        bytes += [0x0D, 0x0A]
    }

    private mutating func add(_ source: any RequestBodySource) {
        pieces.append(.bytes(bytes))
        bytes = []
        pieces.append(.source(source))
    }

    consuming func finish() -> RequestDescription.Body {
        bytes += "--\(boundary)--\r\n".utf8
        if pieces.isEmpty { return .bytes(bytes) }
        pieces.append(.bytes(bytes))
        return .source(CompositeBodySource(pieces))
    }
}
