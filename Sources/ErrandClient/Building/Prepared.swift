/// An object that was made once for all requests, or the error that each request gets instead. A class, so that a
/// request retains one object.
final class Prepared<Value: AnyObject & Sendable>: Sendable {
    // Exactly one of the two is set. One enum would say so, but every request reads `made`, and a read of the enum
    // copies its payload by a switch over both cases.
    /// `nil` if making it failed.
    let made: Value?
    private let failure: ErrandError?

    var isBroken: Bool { made == nil }

    init(_ make: () throws(ErrandError) -> Value) {
        do throws(ErrandError) {
            made = try make()
            failure = nil
        } catch {
            made = nil
            failure = error
        }
    }

    @inline(__always)
    func get() throws(ErrandError) -> Value {
        if let made { return made }
        throw failure ?? .internalFailure
    }
}
