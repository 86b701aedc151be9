import CZlib
import Errand
import Foundation
import HTTPTypes

@testable import ErrandModel

/// Everything that a source gives, asked for `maximum` bytes at a time; each answer is within that.
func drained(_ source: any RequestBodySource, maximum: Int = 1000) async throws -> [UInt8] {
    let reader = try source.open()
    defer { reader.close() }
    var all: [UInt8] = []
    while let bytes = try await reader.next(maximum: maximum) {
        guard (1...maximum).contains(bytes.count) else { throw ErrandError.uploadOverrun }
        all += bytes
    }
    guard try await reader.next(maximum: maximum) == nil else { throw ErrandError.uploadOverrun }
    return all
}

extension RequestDescription.Body {
    /// The source, where it is one.
    var source: (any RequestBodySource)? {
        guard case .source(let source) = self else { return nil }
        return source
    }
}

/// What gzip made, undone by zlib itself; `nil` where it is not one whole gzip stream.
func gunzipped(_ bytes: [UInt8], capacity: Int = 1 << 22) -> [UInt8]? {
    var stream = z_stream()
    guard inflateInit2_(&stream, 15 + 16, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size)) == Z_OK else { return nil }
    defer { inflateEnd(&stream) }
    var input = bytes
    var isWhole = false
    let output = input.withUnsafeMutableBufferPointer { input in
        [UInt8](unsafeUninitializedCapacity: capacity) { buffer, filled in
            stream.next_in = input.baseAddress
            stream.avail_in = UInt32(input.count)
            stream.next_out = buffer.baseAddress
            stream.avail_out = UInt32(capacity)
            isWhole = inflate(&stream, Z_FINISH) == Z_STREAM_END && stream.avail_in == 0
            filled = capacity - Int(stream.avail_out)
        }
    }
    return isWhole ? output : nil
}

/// A file that is removed with this object.
final class TemporaryFile: Sendable {
    let path = NSTemporaryDirectory() + "errand-\(UUID().uuidString).txt"

    init(_ bytes: [UInt8]) throws {
        try Data(bytes).write(to: URL(fileURLWithPath: path))
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }
}

/// A multipart body taken apart by RFC 2046, strictly.
struct ParsedMultipart {
    struct Part: Equatable {
        var headers: [String]
        var body: [UInt8]
    }

    var parts: [Part] = []

    /// `nil` where anything is not as it must be.
    init?(_ bytes: [UInt8], boundary: String) {
        let delimiter = Array("--\(boundary)".utf8)
        guard bytes.starts(with: delimiter) else { return nil }
        var rest = bytes.dropFirst(delimiter.count)
        while true {
            if rest.elementsEqual("--\r\n".utf8) { return }
            guard rest.starts(with: "\r\n".utf8) else { return nil }
            rest = rest.dropFirst(2)
            var headers: [String] = []
            while !rest.starts(with: "\r\n".utf8) {
                guard let end = rest.firstRange(of: Array("\r\n".utf8)) else { return nil }
                headers.append(String(decoding: rest[..<end.lowerBound], as: UTF8.self))
                rest = rest[end.upperBound...]
            }
            rest = rest.dropFirst(2)
            guard let end = rest.firstRange(of: Array("\r\n".utf8) + delimiter) else { return nil }
            parts.append(Part(headers: headers, body: Array(rest[..<end.lowerBound])))
            rest = rest[end.upperBound...]
        }
    }
}
