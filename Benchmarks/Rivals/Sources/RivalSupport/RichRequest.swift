import Logging
import Synchronization

/// The additions of a rich request to a plain one: fields, deadlines, an observer and a log line.
package enum RichRequest {
    /// The same fields as in `bare_rich.c`.
    package static let fields: [(name: String, value: String)] = [
        ("Accept", "text/plain"),
        ("Accept-Language", "en, de;q=0.8"),
        ("User-Agent", "bench/1.0"),
        ("Authorization", "Bearer 0123456789abcdef0123456789abcdef"),
        ("X-Request-ID", "3f2c8a7e-1b5d-4c9a-8e6f-0a1b2c3d4e5f"),
        ("X-Client-Version", "1.2.3"),
        ("X-Tenant", "tenant-42"),
        ("Traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"),
    ]

    package static let connectSeconds = 10
    package static let firstByteSeconds = 30
    package static let idleSeconds = 60
    package static let totalSeconds = 60

    private static let logger = Logger(label: "rival") { label in DroppingLogHandler(label: label) }
    private static let begun = Atomic(0)
    private static let ended = Atomic(0)

    /// The observer's call at the start of a request.
    package static func begin() {
        begun.add(1, ordering: .relaxed)
    }

    /// Not inlined, so that the compiler cannot remove the creation of the text.
    @inline(never)
    package static func read(_ text: String) {}

    /// The observer's call at the end of a request, and the log line.
    package static func end(_ method: String, _ url: String, status: Int, bytes: Int) {
        ended.add(1, ordering: .relaxed)
        logger.info("\(method) \(url): \(status), \(bytes) bytes")
    }
}
