/// How a request ended.
package enum Outcome: Sendable {
    case answered(status: Int, bytes: Int)
    /// There was no answer, or not the one that was asked for.
    case failed(String)
}
