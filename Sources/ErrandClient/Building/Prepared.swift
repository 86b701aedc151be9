/// An object that was made once for all requests, or the error that each request gets in its place. A class, because a
/// `Result` would be copied, with both of its cases, each time it is read.
final class Prepared<Value: AnyObject & Sendable>: Sendable {
    /// `nil` where making it failed.
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
