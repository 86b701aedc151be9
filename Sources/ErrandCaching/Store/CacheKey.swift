/// The key under which a cache stores a response: a namespace, and a digest of everything that makes two requests
/// equal.
public struct CacheKey: Sendable, Hashable {
    /// Separates the records of one use of a store from other uses and other programs; may be empty.
    public let namespace: String
    /// The digest; its first byte is the highest byte of the first word.
    let words: Words

    /// SHA-256 as 64 lowercase hexadecimal digits. The hashed data cannot be recovered from it.
    public var digest: String {
        let digits: StaticString = "0123456789abcdef"
        return String(unsafeUninitializedCapacity: 2 * SHA256.byteCount) { text in
            for place in text.indices {
                let word = words[place / 16]
                text[place] = digits.utf8Start[Int(word >> (60 - 4 * UInt64(place % 16)) & 15)]
            }
            return text.count
        }
    }

    /// The 32 bytes of a digest as four numbers, so that neither a copy nor a comparison of a key needs the heap.
    struct Words: Sendable, Equatable {
        private var first: UInt64 = 0
        private var second: UInt64 = 0
        private var third: UInt64 = 0
        private var fourth: UInt64 = 0

        subscript(index: Int) -> UInt64 {
            get {
                switch index {
                case 0: first
                case 1: second
                case 2: third
                default: fourth
                }
            }
            set {
                switch index {
                case 0: first = newValue
                case 1: second = newValue
                case 2: third = newValue
                default: fourth = newValue
                }
            }
        }
    }

    /// Combines the words only: the digest is a hash already, and one digest is seldom in several namespaces.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(words[0] ^ words[1] ^ words[2] ^ words[3])
    }

    /// Whether both keys identify the same record.
    public static func == (left: CacheKey, right: CacheKey) -> Bool {
        left.words == right.words && left.namespace == right.namespace
    }

    /// Creates a key from an existing digest.
    ///
    /// Returns `nil` if `digest` is not 64 lowercase hexadecimal digits.
    public init?(namespace: String = "", digest: String) {
        var words = Words()
        var count = 0
        for byte in digest.utf8 {
            let value: UInt8
            switch byte {
            case 0x30...0x39: value = byte - 0x30
            case 0x61...0x66: value = byte - 0x61 + 10
            default: return nil
            }
            guard count < 2 * SHA256.byteCount else { return nil }
            words[count / 16] = words[count / 16] << 4 | UInt64(value)
            count += 1
        }
        guard count == 2 * SHA256.byteCount else { return nil }
        self.namespace = namespace
        self.words = words
    }

    /// `nil` if these are not the 32 bytes of a digest.
    init?(namespace: String, bytes: [UInt8]) {
        guard bytes.count == SHA256.byteCount else { return nil }
        var words = Words()
        for index in 0..<4 {
            words[index] = bytes[8 * index..<8 * index + 8].reduce(0) { $0 << 8 | UInt64($1) }
        }
        self.namespace = namespace
        self.words = words
    }

    /// The key of these parts, in this order. The length of each part is hashed before the part, so that two different
    /// lists never give the same bytes.
    ///
    /// `nil` if libcrypto fails.
    package init?(namespace: String = "", hashing parts: [[UInt8]]) {
        guard var hash = SHA256() else { return nil }
        for part in parts {
            guard hash.update(UInt64(part.count)), hash.update(part) else { return nil }
        }
        guard let digest = hash.finish() else { return nil }
        self.init(namespace: namespace, bytes: digest)
    }
}
