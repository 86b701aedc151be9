import HTTPTypes

/// Parts as they cross the wire (RFC 2046 5.1.1).
struct MultipartEncoder {
    private let boundary: String
    private var pieces: [CompositeBodySource.Piece] = []
    /// What follows the last source.
    private var bytes: [UInt8] = []

    /// `boundary` `nil`: `Boundary+` and 16 random hexadecimal digits, as AFNetworking's. Throws
    /// ``ErrandError/invalidBody`` for what RFC 2046 does not allow.
    init(boundary: String?) throws(ErrandError) {
        guard let boundary else {
            let digits = String(UInt64.random(in: 0 ... .max), radix: 16, uppercase: true)
            self.boundary = "Boundary+" + String(repeating: "0", count: 16 - digits.count) + digits
            return
        }
        guard (1...70).contains(boundary.utf8.count), boundary.utf8.allSatisfy(Self.isBoundaryByte),
            boundary.utf8.last != 0x20
        else {
            throw ErrandError.invalidBody.with(message: "\(boundary.debugDescription) cannot be a boundary")
        }
        self.boundary = boundary
    }

    private static func isBoundaryByte(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        default: "'()+_,-./:=? ".utf8.contains(byte)
        }
    }

    /// As a parameter of a media type has it.
    var boundaryValue: String {
        let isToken = boundary.utf8.allSatisfy { !"(),/:=? ".utf8.contains($0) }
        return isToken ? boundary : "\"\(boundary)\""
    }

    /// Throws ``ErrandError/invalidHeader`` for fields that would end too early, and ``ErrandError/fileUnreadable``.
    mutating func add(_ part: MultipartPart) throws(ErrandError) {
        guard !part.isMalformed else {
            throw ErrandError.invalidHeader.with(message: "a part's name or type has a CR, LF or NUL in it")
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
                throw ErrandError.invalidBody.with(message: "the length of a part is \(length)")
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
