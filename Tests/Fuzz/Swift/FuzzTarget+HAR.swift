import Errand

extension FuzzTarget {
    /// What was read is written as text that is read and written as the same text.
    static let har = FuzzTarget(name: "har") { bytes in
        guard let text = (try? HAR(parsing: bytes))?.text() else { return }
        let again = try? HAR(parsing: Array(text.utf8))
        precondition(again?.text() == text)
    }
}
