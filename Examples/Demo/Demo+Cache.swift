import Errand

extension Demo {
    /// Shows a cache with a time to live and a version, then a cache that follows the server's headers (RFC 9111).
    func cached() async throws {
        for expected in [false, true] {
            let request = try await ended(GetPrices())
            let source = request.isFromCache ? "the cache" : "the network"
            print("cached         \(try value(request)) from \(source)")
            guard request.isFromCache == expected else { throw DemoError("not from the expected source") }
        }
        // Delivers the cached value first, then the new one.
        for try await prices in client.values(of: GetPrices()) { print("then network   \(prices)") }
        for expected in ["fwd=uri-miss", "hit"] {
            let request = try await ended(GetNews())
            let status = request.response?.cacheStatus ?? "none"
            print("RFC 9111       \(try value(request)): \(status)")
            guard status.contains(expected) else { throw DemoError("expected \(expected)") }
        }
    }
}
