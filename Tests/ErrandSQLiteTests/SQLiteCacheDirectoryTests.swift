import Errand
import Foundation
import Testing

@testable import ErrandSQLite

@Suite struct SQLiteCacheDirectoryTests {
    private func path(
        _ environment: [String: String], name: String = "app", filters: [@Sendable (String) -> String] = []
    ) throws -> String {
        try SQLiteCacheDirectory.path(named: name, filters: filters) { environment[$0] }
    }

    @Test func theDirectoryIsWhatXDGSays() throws {
        #expect(try path(["XDG_CACHE_HOME": "/c", "HOME": "/h"]) == "/c/app")
        #expect(try path(["HOME": "/h"]) == "/h/.cache/app")
        // Relative paths are to be ignored.
        #expect(try path(["XDG_CACHE_HOME": "c", "HOME": "/h"]) == "/h/.cache/app")
        #expect(try path(["XDG_CACHE_HOME": "", "HOME": "/h"]) == "/h/.cache/app")
        #expect(throws: CacheStoreError.pathRefused) { try path([:]) }
        #expect(throws: CacheStoreError.pathRefused) { try path(["HOME": "h"]) }
    }

    @Test(arguments: ["", ".", "..", "a/b", "a\0b"]) func aNameIsOnePartOfAPath(name: String) {
        #expect(throws: CacheStoreError.pathRefused) { try path(["HOME": "/h"], name: name) }
    }

    @Test func filtersChangeThePathInTheirOrder() throws {
        #expect(try path(["HOME": "/h"], filters: [{ $0 + "/a" }, { $0 + "/b/" }]) == "/h/.cache/app/a/b")
        #expect(throws: CacheStoreError.pathRefused) { try path(["HOME": "/h"], filters: [{ _ in "x" }]) }
    }

    @Test func aStoreWithoutAPlaceIsOff() throws {
        let store = SQLiteCacheStore(path: "relative")
        #expect(store.path == nil && store.health == CacheHealth(.off, reason: .pathRefused))
        #expect(try store.read(key(1)) == nil)
        try store.write(record(1), for: key(1))
        #expect(throws: CacheStoreError.pathRefused) { try store.removeAll() }
    }

    @Test func whatIsMadeIsForItsOwnerAlone() throws {
        let folder = try CacheFolder()
        let store = SQLiteCacheStore(path: folder.file("one/two/cache.sqlite"))
        try store.write(record(1), for: key(1))
        for (name, mode) in [("one", 0o700), ("one/two", 0o700), ("one/two/cache.sqlite", 0o600)] {
            let attributes = try FileManager.default.attributesOfItem(atPath: folder.file(name))
            #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == mode)
        }
        let log = try FileManager.default.attributesOfItem(atPath: folder.file("one/two/cache.sqlite-wal"))
        #expect((log[.posixPermissions] as? NSNumber)?.intValue == 0o600)
    }
}
