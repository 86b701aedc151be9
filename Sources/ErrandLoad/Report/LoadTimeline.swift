/// The intervals of all names in one list.
enum LoadTimeline {
    struct Row {
        let request: RequestStatistics
        let interval: LoadInterval
    }

    /// By time, then in the order of the result.
    static func rows(of result: LoadResult) -> [Row] {
        let places = result.requests.enumerated().flatMap { place, request in
            request.intervals.indices.map { (place: place, interval: $0) }
        }
        let sorted = places.sorted { left, right in
            let leftIndex = result.requests[left.place].intervals[left.interval].index
            let rightIndex = result.requests[right.place].intervals[right.interval].index
            return (leftIndex, left.place) < (rightIndex, right.place)
        }
        return sorted.map { place in
            let request = result.requests[place.place]
            return Row(request: request, interval: request.intervals[place.interval])
        }
    }
}
