/// When permits that were taken for later may be used, in the order of these times. Times that have come are removed at
/// the front, so each time costs a constant amount of work, however long the list is.
struct PermitTimes: Sendable {
    private var times: [Duration] = []
    /// The times at the front that have left already.
    private var gone = 0

    var count: Int { times.count - gone }
    /// The earliest time.
    var first: Duration? { gone < times.count ? times[gone] : nil }

    mutating func add(_ time: Duration) {
        times.insert(time, at: place(after: time))
    }

    /// Removes one permit of this time, where there is one.
    mutating func remove(_ time: Duration) {
        let place = place(after: time) - 1
        guard place >= gone, times[place] == time else { return }
        times.remove(at: place)
    }

    /// Removes the permits that may be used by this time.
    mutating func removeAll(through time: Duration) {
        while let first, first <= time { gone += 1 }
        guard gone > 0, gone * 2 >= times.count else { return }
        if gone == times.count { times = [] } else { times.removeFirst(gone) }
        gone = 0
    }

    /// The place of the first later time. Nearly all times are added in their order; the place of another one is found
    /// by binary search.
    private func place(after time: Duration) -> Int {
        guard let last = times.last, last > time else { return times.count }
        var low = gone
        var high = times.count
        while low < high {
            let middle = (low + high) / 2
            if times[middle] > time { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
