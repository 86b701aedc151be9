import CErrand
import Errand
import Testing

@testable import ErrandEngine

/// Which objects of options the engine keeps.
@Suite struct OptionsCacheTests {
    /// A cache, and what it has returned. References are kept, so that no address is used twice.
    private final class Fixture {
        let cache = OptionsCache()
        private var handles: [OpaquePointer?] = []

        func handle(for options: ConnectionOptions) throws -> OpaquePointer? {
            let handle = try cache.handle(for: options)
            handles.append(handle)
            return handle
        }

        deinit {
            for handle in handles { errand_options_release(handle) }
        }
    }

    private func options(_ number: Int) -> ConnectionOptions {
        ConnectionOptions(resolveOverrides: ["h\(number).test:80:127.0.0.1"])
    }

    @Test func whatIsUsedStays() throws {
        let fixture = Fixture()
        let used = try fixture.handle(for: options(-1))
        let unused = try fixture.handle(for: options(-2))
        #expect(used != nil && unused != nil && used != unused)
        for number in 0..<(4 * OptionsCache.capacity) {
            _ = try fixture.handle(for: options(number))
            guard number % (OptionsCache.capacity / 2) == 0 else { continue }
            let again = try fixture.handle(for: options(-1))
            #expect(again == used)
        }
        // The last ones are kept, and the table is bounded.
        let last = 4 * OptionsCache.capacity - 1
        let newest = try fixture.handle(for: options(last))
        let newestAgain = try fixture.handle(for: options(last))
        #expect(newest == newestAgain)
        let madeAgain = try fixture.handle(for: options(-2))
        #expect(madeAgain != unused)
    }

    /// As many values as the capacity never displace each other, whatever their order.
    @Test func asManyAsTheCapacityStay() throws {
        let fixture = Fixture()
        let numbers = 0..<OptionsCache.capacity
        let first = try numbers.map { try fixture.handle(for: options($0)) }
        for _ in 0..<3 {
            let again = try numbers.map { try fixture.handle(for: options($0)) }
            #expect(again == first)
        }
        let backwards = try numbers.reversed().map { try fixture.handle(for: options($0)) }
        let forwards = Array(backwards.reversed())
        #expect(forwards == first)
    }

    /// Servers name as many alternative services as they like.
    @Test func alternativesDisplaceNothingElse() throws {
        let fixture = Fixture()
        let own = try fixture.handle(for: options(0))
        for number in 0..<(4 * OptionsCache.capacity) {
            var alternative = options(0)
            alternative.connectTo = "a\(number).test:443"
            _ = try fixture.handle(for: alternative)
        }
        let again = try fixture.handle(for: options(0))
        #expect(own != nil && again == own)
    }
}
