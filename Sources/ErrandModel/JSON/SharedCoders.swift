package import FoundationEssentials

/// Coders shared by every command that does not bring its own. Neither is changed after it was made.
package enum SharedCoders {
    /// Given by a command, it stands for the client's.
    package static let jsonDecoder = JSONDecoder()
    /// With sorted names: in an order of Foundation's own the same value is other bytes in every process, as the seeds of its
    /// hash tables are.
    package static let jsonEncoder = JSONEncoder().withSortedKeys
}
