/// The requests in flight, with the times at which they were due. Requests that never end count as unfinished when the
/// run is over. Places are reused, so nothing is allocated for each request.
struct OpenRequests: Sendable {
    private struct Entry: Sendable {
        let record: Int
        let due: UInt64
    }

    private var entries: [Entry?] = []
    private var free: [Int] = []

    /// Returns the place of the request.
    mutating func add(_ record: Int, due: UInt64) -> Int {
        let entry = Entry(record: record, due: due)
        guard let place = free.popLast() else {
            entries.append(entry)
            return entries.count - 1
        }
        entries[place] = entry
        return place
    }

    mutating func remove(_ place: Int) {
        guard entries.indices.contains(place), entries[place] != nil else { return }
        entries[place] = nil
        free.append(place)
    }

    /// Removes and returns all of them.
    mutating func removeAll() -> [(record: Int, due: UInt64)] {
        let all = entries.compactMap { entry in entry.map { (record: $0.record, due: $0.due) } }
        entries = []
        free = []
        return all
    }
}
