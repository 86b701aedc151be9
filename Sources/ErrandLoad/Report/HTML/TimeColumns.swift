import Errand

/// A time series in a bounded number of columns: neighbouring intervals are added up if there are more.
struct TimeColumns {
    struct Column {
        /// In seconds since the start of the measured part.
        let start: Double
        let end: Double
        /// The time within the measured part in seconds, or the whole length after its end.
        let measured: Double
        var sum: LoadInterval
    }

    let columns: [Column]
    /// The end of the last column, or of the measured part.
    let end: Double
    /// The start of the columns after the measured part; `nil`: there are none.
    let outside: Double?

    init(_ statistics: RequestStatistics, of result: LoadResult, atMost limit: Int = 240) {
        let length = result.interval.asSeconds
        let seconds = result.duration.asSeconds
        let most = 10_000_000
        let intervals = statistics.intervals.filter { (0..<most).contains($0.index) }
        let last = (intervals.map(\.index).max() ?? -1) + 1
        let count = max(last, length > 0 ? Int(min(max((seconds / length - 0.001).rounded(.up), 0), Double(most))) : 0)
        let size = max(1, (count + limit - 1) / limit)
        var columns = stride(from: 0, to: count, by: size).map { first in
            let start = Double(first) * length
            let end = Double(min(first + size, count)) * length
            let left = min(end, seconds) - start
            return Column(
                start: start, end: end, measured: left > 0 ? left : end - start, sum: LoadInterval(index: first))
        }
        for interval in intervals { columns[interval.index / size].sum.add(interval) }
        self.columns = columns
        end = max(columns.last?.end ?? 0, seconds)
        outside = seconds > 0 ? columns.first(where: { $0.start >= seconds * (1 - 1e-9) })?.start : nil
    }

    /// What a tooltip says first.
    static func time(_ column: Column) -> String {
        "\(NumberText.duration(column.start)) to \(NumberText.duration(column.end))"
    }
}
