import Errand
import Glibc

/// The parts of a request from which the labels of a run are made: the text of the URL up to the path, the method and
/// the template. They are compared with the texts of a request, so no text is made to find a run.
struct RunKey: Sendable {
    /// `https://host:port`.
    private let origin: ContiguousArray<UInt8>
    private let method: String
    private let template: String?
    /// The hash, which is random for each process.
    let code: Int

    /// `nil` for a URL that is not kept: one with credentials, which must not stay in memory, or without a server.
    init?(_ description: RequestDescription, template: String?) {
        let found = Self.withBytes(of: description.url) { url in Self.origin(of: url).map { ContiguousArray($0) } }
        guard case .some(.some(let origin)) = found else { return nil }
        self.origin = origin
        method = description.method.rawValue
        self.template = template
        code = origin.withUnsafeBytes { Self.mixed($0, description.method.rawValue, template) }
    }

    /// The ``code`` of the key that a request has; `nil`: it has none.
    static func code(of description: RequestDescription, template: String?) -> Int? {
        let found = withBytes(of: description.url) { url in
            Self.origin(of: url).map { mixed(UnsafeRawBufferPointer($0), description.method.rawValue, template) }
        }
        guard case .some(.some(let code)) = found else { return nil }
        return code
    }

    /// Whether a request has this key.
    func matches(_ description: RequestDescription, template: String?) -> Bool {
        guard description.method.rawValue == method, template == self.template else { return false }
        return Self.withBytes(of: description.url) { url in
            guard url.count >= origin.count, let start = url.baseAddress else { return false }
            guard url.count == origin.count || Self.endsAuthority(url[origin.count]) else { return false }
            return origin.withUnsafeBufferPointer { origin in
                origin.baseAddress.map { memcmp(start, $0, origin.count) == 0 } ?? false
            }
        } ?? false
    }

    /// `nil`: the text is not stored as one piece of UTF-8. On Linux every Swift string is.
    private static func withBytes<Value>(of url: String, _ body: (UnsafeBufferPointer<UInt8>) -> Value) -> Value? {
        url.utf8.withContiguousStorageIfAvailable(body)
    }

    /// Scheme and authority of an absolute URL.
    private static func origin(of url: UnsafeBufferPointer<UInt8>) -> UnsafeBufferPointer<UInt8>? {
        guard let colon = url.firstIndex(of: UInt8(ascii: ":")), url.count > colon + 3,
            url[colon + 1] == UInt8(ascii: "/"), url[colon + 2] == UInt8(ascii: "/")
        else { return nil }
        var end = colon + 3
        while end < url.count, !endsAuthority(url[end]) {
            if url[end] == UInt8(ascii: "@") { return nil }
            end += 1
        }
        return end > colon + 3 ? UnsafeBufferPointer(rebasing: url[..<end]) : nil
    }

    private static func endsAuthority(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "/") || byte == UInt8(ascii: "?") || byte == UInt8(ascii: "#")
    }

    private static func mixed(_ origin: UnsafeRawBufferPointer, _ method: String, _ template: String?) -> Int {
        var hasher = Hasher()
        hasher.combine(bytes: origin)
        hasher.combine(method)
        hasher.combine(template)
        return hasher.finalize()
    }
}
