/// The reason why a program cannot run.
package struct RivalError: Error, CustomStringConvertible {
    package let description: String

    package init(_ description: String) {
        self.description = description
    }
}
