package import FoundationEssentials

/// Coders shared by all commands without their own. They are not changed after they were made.
package enum SharedCoders {
    /// A command that returns this decoder uses the client's decoder.
    package static let jsonDecoder = JSONDecoder()
    /// Sorts names: Foundation's own order depends on the seeds of its hash tables, so that equal values would give
    /// different bytes in every process.
    package static let jsonEncoder = JSONEncoder().withSortedKeys
}
