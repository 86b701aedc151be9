import Dispatch
import Glibc

/// The addresses of a host name.
enum HostAddresses {
    /// Looks up the name on a thread of its own: getaddrinfo blocks. Throws ``ErrandError/resolveFailed``.
    static func look(up host: String, port: Int) async throws -> [String] {
        let name = host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host
        let result: Result<[String], ErrandError> = await withCheckedContinuation { continuation in
            DispatchQueue.global().async { continuation.resume(returning: addresses(of: name, port: port)) }
        }
        return try result.get()
    }

    private static func addresses(of name: String, port: Int) -> Result<[String], ErrandError> {
        var hints = addrinfo()
        hints.ai_family = AF_UNSPEC
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        // Addresses of a family that this machine has no route for are left out (RFC 3493 6.1).
        hints.ai_flags = AI_ADDRCONFIG
        var list: UnsafeMutablePointer<addrinfo>?
        let code = getaddrinfo(name, String(port), &hints, &list)
        guard code == 0 else {
            let reason = gai_strerror(code).map { String(cString: $0) } ?? "\(code)"
            return .failure(.resolveFailed.with(message: "'\(name)' could not be looked up: \(reason)"))
        }
        defer { freeaddrinfo(list) }
        var found: [String] = []
        var next = list
        while let info = next?.pointee {
            if let text = text(of: info), !found.contains(text) { found.append(text) }
            next = info.ai_next
        }
        return .success(found)
    }

    private static func text(of info: addrinfo) -> String? {
        var text = [CChar](repeating: 0, count: Int(NI_MAXHOST))
        guard getnameinfo(info.ai_addr, info.ai_addrlen, &text, socklen_t(text.count), nil, 0, NI_NUMERICHOST) == 0
        else {
            return nil
        }
        let bytes = text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
        // libcurl does not accept an address with a scope (`fe80::1%eth0`).
        return String(decoding: bytes.prefix { $0 != UInt8(ascii: "%") }, as: UTF8.self)
    }
}
