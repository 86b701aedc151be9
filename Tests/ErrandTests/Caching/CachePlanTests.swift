import Testing

@testable import ErrandCaching
@testable import ErrandModel

@Suite struct CachePlanTests {
    /// An existential holds a value of at most three words in itself, and allocates for any other.
    @Test func aPlanIsHeldWithoutAnAllocation() {
        #expect(MemoryLayout<ResponseCachePlan>.size <= 3 * MemoryLayout<Int>.size)
        #expect(MemoryLayout<ResponseCachePlan>.alignment <= MemoryLayout<Int>.alignment)
    }
}
