import FoundationEssentials

/// Rejects text on which Foundation's decoder traps instead of throwing.
///
/// swift-foundation (6.3 at least) traps if the last byte of the input opens the 513th level: it computes the location
/// of the error beyond the end of the input. Any server could cause this trap. Text that ends with an opening bracket
/// is not JSON at any depth. Delete this when `JSONDecoder` throws for 513 times `[`.
enum JSONGuard {
    static func check(_ text: Data) throws(DecodingError) {
        // Zeros are skipped: in UTF-16 and UTF-32, which Foundation also reads, zeros surround the bracket.
        let last = text.withUnsafeBytes { $0.last { $0 != 0 } }
        guard let last, last == UInt8(ascii: "[") || last == UInt8(ascii: "{") else { return }
        throw .dataCorrupted(.init(codingPath: [], debugDescription: "The input ends with an opening bracket."))
    }
}
