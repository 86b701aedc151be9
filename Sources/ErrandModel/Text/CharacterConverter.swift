#if canImport(Glibc)
import Glibc
#else
import Musl
#endif

/// The C library's converter from one encoding to UTF-8, open as long as this value lives.
struct CharacterConverter: ~Copyable {
    private let descriptor: iconv_t

    /// `nil` if the library does not have the converter (a system without its gconv modules).
    init?(from name: String) {
        guard let descriptor = iconv_open("UTF-8", name), Int(bitPattern: descriptor) != -1 else { return nil }
        self.descriptor = descriptor
    }

    deinit {
        iconv_close(descriptor)
    }

    /// The text of the bytes. If `isLossy`, each invalid byte and a character that is truncated at the end become
    /// U+FFFD.
    consuming func convert(_ bytes: UnsafeRawBufferPointer, isLossy: Bool) throws(TextEncoding.Failure) -> String {
        var text: [UInt8] = []
        text.reserveCapacity(bytes.count + bytes.count / 2)
        var offset = 0
        while offset < bytes.count {
            let step = convert(UnsafeRawBufferPointer(rebasing: bytes[offset...]), into: &text)
            offset += step.consumed
            switch step.error {
            case 0:
                break
            case E2BIG:
                // A converter that neither reads nor writes would cause an endless loop.
                guard step.consumed > 0 || step.produced > 0 else { throw .invalid(offset: offset) }
            case EILSEQ where isLossy:
                text.append(contentsOf: Self.replacement)
                offset += 1
            case EINVAL where isLossy:
                text.append(contentsOf: Self.replacement)
                offset = bytes.count
            default:
                throw .invalid(offset: offset)
            }
        }
        flush(into: &text)
        return String(decoding: text, as: UTF8.self)
    }

    private static let replacement: [UInt8] = [0xEF, 0xBF, 0xBD]
    private static let chunk = 16 * 1024

    /// One call of `iconv`: the number of bytes read and written, and `errno` or zero.
    private borrowing func convert(
        _ input: UnsafeRawBufferPointer, into text: inout [UInt8]
    ) -> (consumed: Int, produced: Int, error: Int32) {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: Self.chunk) { output in
            // iconv takes a pointer to mutable bytes in POSIX's prototype, but only reads them.
            var source = UnsafeMutablePointer(mutating: input.assumingMemoryBound(to: CChar.self).baseAddress)
            var target = output.baseAddress
            var sourceLeft = input.count
            var targetLeft = output.count
            let failed = iconv(descriptor, &source, &sourceLeft, &target, &targetLeft) == Int(bitPattern: UInt.max)
            let error = failed ? errno : 0
            let produced = output.count - targetLeft
            text.append(contentsOf: UnsafeRawBufferPointer(UnsafeBufferPointer(rebasing: output[..<produced])))
            return (input.count - sourceLeft, produced, error)
        }
    }

    /// Some converters (BIG5-HKSCS) hold a character back until they know that no combining character follows.
    private borrowing func flush(into text: inout [UInt8]) {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 64) { output in
            var target = output.baseAddress
            var targetLeft = output.count
            _ = iconv(descriptor, nil, nil, &target, &targetLeft)
            text.append(
                contentsOf: UnsafeRawBufferPointer(
                    UnsafeBufferPointer(rebasing: output[..<(output.count - targetLeft)])))
        }
    }
}
