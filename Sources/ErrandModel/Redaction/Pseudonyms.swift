import Synchronization

/// The words that replace the secrets of recorded responses: one word for each value. So if a later request repeats a
/// value of a response, in its path or under another name, both have the same word. Any thread.
package final class Pseudonyms: Sendable {
    private struct State {
        var words: [String: String] = [:]
        var counts: [String: Int] = [:]
    }

    /// A shorter value may occur in a text by chance.
    private static let leastLength = 8

    private let state = Mutex(State())
    private let prefix: String

    /// `generation`: tells the words of several recordings in one file from each other.
    package init(generation: Int = 0) {
        prefix = Redaction.placeholder + (generation == 0 ? "-" : "-\(generation)-")
    }

    /// How often values were hidden, by the names of their members.
    package var counts: [String: Int] { state.withLock { $0.counts } }

    /// Notes that the value of a member was hidden.
    func note(_ name: String) {
        state.withLock { $0.counts[name, default: 0] += 1 }
    }

    /// The word for a value.
    func word(for value: String) -> String {
        if value.isEmpty || isWord(value) { return value }
        return state.withLock { state in
            if let word = state.words[value] { return word }
            let word = prefix + String(state.words.count + 1)
            state.words[value] = word
            return word
        }
    }

    /// Whether the value is a word already, from a response that was replayed.
    private func isWord(_ value: String) -> Bool {
        guard value.hasPrefix(Redaction.placeholder) else { return false }
        return value.dropFirst(Redaction.placeholder.count).allSatisfy { $0 == "-" || ("0"..."9").contains($0) }
    }

    /// The text with words instead of the values that are known so far, including percent-encoded ones.
    package func applied(to text: String) -> String {
        String(decoding: applied(to: Array(text.utf8)), as: UTF8.self)
    }

    /// The same for bytes.
    package func applied(to bytes: [UInt8]) -> [UInt8] {
        let words = state.withLock { $0.words }.filter { $0.key.utf8.count >= Self.leastLength }
        var bytes = bytes
        // A value may contain another one.
        for (value, word) in words.sorted(by: { ($0.key.utf8.count, $0.key) > ($1.key.utf8.count, $1.key) }) {
            let encoded = PercentEncoding.component(value)
            bytes = bytes.replacing(Array(value.utf8), by: Array(word.utf8))
            if encoded != value { bytes = bytes.replacing(Array(encoded.utf8), by: Array(word.utf8)) }
        }
        return bytes
    }
}

extension [UInt8] {
    /// The bytes with `word` instead of each `value`.
    package func replacing(_ value: [UInt8], by word: [UInt8]) -> [UInt8] {
        guard let first = value.first, count >= value.count else { return self }
        var result: [UInt8] = []
        result.reserveCapacity(count)
        var index = 0
        while index < count {
            if self[index] == first, self[index...].starts(with: value) {
                result += word
                index += value.count
            } else {
                result.append(self[index])
                index += 1
            }
        }
        return result
    }
}
