import Errand
import ErrandSQLite
import Testing

/// The code of the guide "Cache stores", and what "Caching" has of stores; GuideTests compares it line by line.
@Suite struct CacheStoresSnippets {
    static func all(tenant: String, midnight: Int64) throws {
        let memory = MemoryCacheStore(limits: .init(bytes: 8 << 20, entries: 1000))
        let file = SQLiteCacheStore(
            named: "my-service", directoryFilters: [{ "\($0)/\(tenant)" }],
            limits: .init(bytes: 64 << 20, age: .seconds(24 * 3600)))
        let store = LayeredCacheStore(memory: memory, over: file)

        try store.remove(tag: "prices")
        try store.remove(olderThan: midnight)
        try store.removeAll(namespace: "reports")

        switch file.health.condition {
        case .working: print("repaired \(file.health.repairs) times")
        case .readingOnly, .off: print(file.health.reason?.shortDescription ?? "")
        }

        file.close()
    }

    static func configured() -> Client.Configuration {
        var configuration = Client.Configuration(baseURL: "https://api.example.org/")
        let store = LayeredCacheStore(over: SQLiteCacheStore(named: "my-service"))
        configuration.cache = ResponseCache(store, applicationVersion: "1.4")
        configuration.settings.cache = .http
        return configuration
    }

    /// In a folder of its own: the filter's path is an absolute one.
    @Test func theyRun() throws {
        let folder = try CacheFolder()
        let file = SQLiteCacheStore(named: "my-service", directoryFilters: [{ _ in folder.file("tenant") }])
        try file.write(record(1, storedAt: 4_000_000_000_000), for: key(1, namespace: "reports"))
        let store = LayeredCacheStore(over: file)
        #expect(try store.read(key(1, namespace: "reports")) == record(1, storedAt: 4_000_000_000_000))
        #expect(try store.removeAll(namespace: "reports") == 1 && folder.has("tenant/cache.sqlite"))
        file.close()
        #expect(file.health.condition == .off)
    }
}
