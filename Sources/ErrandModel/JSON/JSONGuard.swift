import FoundationEssentials

/// Keeps from Foundation's decoder what it traps on instead of throwing.
///
/// swift-foundation (6.3 at least): when the 513th level opens with the last byte of the input, the error's location is
/// computed beyond the end, a trap that any server could pull. A text that ends so is no JSON however deep it is.
/// Delete when `JSONDecoder` throws for 513 times `[`.
enum JSONGuard {
    static func check(_ text: Data) throws(DecodingError) {
        // Not zero, as UTF-16 and UTF-32, which Foundation reads too, have zeros around the bracket.
        let last = text.withUnsafeBytes { $0.last { $0 != 0 } }
        guard let last, last == UInt8(ascii: "[") || last == UInt8(ascii: "{") else { return }
        throw .dataCorrupted(.init(codingPath: [], debugDescription: "The input ends where a container begins."))
    }
}
