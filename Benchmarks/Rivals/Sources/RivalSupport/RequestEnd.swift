/// How a request ended.
package enum RequestEnd: Sendable {
    case answered(status: Int, bytes: Int)
    /// There was no response, or not the expected one.
    case failed(String)
}
