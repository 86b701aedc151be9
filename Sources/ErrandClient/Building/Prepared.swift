/// An object that was made once for all requests, or the error that each request gets in its place. Unlike `Result`, it
/// is read without a copy of its parts.
struct Prepared<Value: AnyObject & Sendable>: Sendable {
    private let value: Value?
    private let failure: ErrandError?

    init(_ make: () throws(ErrandError) -> Value) {
        do throws(ErrandError) {
            value = try make()
            failure = nil
        } catch {
            value = nil
            failure = error
        }
    }

    var isBroken: Bool { value == nil }

    /// The object; `nil` where making it failed.
    var made: Value? { value }

    @inline(__always)
    func get() throws(ErrandError) -> Value {
        guard let value else { throw failure ?? .internalFailure }
        return value
    }
}
