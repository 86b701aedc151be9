import Errand
import FoundationEssentials

/// The time series of a result as a histogram log (`.hlog`, format 1.3), which the tools of HdrHistogram read: a line for
/// each interval and name with the tag `scenario/name`. Times are in seconds, maxima in milliseconds, histograms in
/// nanoseconds.
///
/// A tag ends at a comma. Commas, blanks, control characters and `%` in names are therefore percent-encoded.
public struct HistogramLog: Sendable {
    private let result: LoadResult

    /// A log of a result.
    public init(_ result: LoadResult) {
        self.result = result
    }

    /// The text, with a line break at the end. Intervals without a latency are missing.
    public var text: String {
        let start = NumberText.fixed(max(0, result.start.timeIntervalSince1970), 3)
        var lines = [
            "#[Histogram log format version 1.3]",
            "#[StartTime: \(start) (seconds since epoch), \(result.start.formatted(.iso8601))]",
            "#[BaseTime: \(start) (seconds since epoch)]",
            "\"StartTimestamp\",\"Interval_Length\",\"Interval_Max\",\"Interval_Compressed_Histogram\"",
        ]
        let length = result.interval.asSeconds
        for row in LoadTimeline.rows(of: result) {
            guard let most = row.interval.latency.buckets.last?.value else { continue }
            let fields = [
                "Tag=" + Self.tag(row.request),
                NumberText.fixed(Double(row.interval.index) * length, 3), NumberText.fixed(length, 3),
                NumberText.fixed(Double(most) / 1e6, 3), row.interval.latency.base64,
            ]
            lines.append(fields.joined(separator: ","))
        }
        return lines.map { $0 + "\n" }.joined()
    }

    private static func tag(_ request: RequestStatistics) -> String {
        var tag = ""
        for scalar in LoadSummary.path(request.scenario, request.name).unicodeScalars {
            let isPlain = scalar != "," && scalar != "%" && !scalar.isControl && !scalar.properties.isWhitespace
            guard !isPlain else {
                tag.unicodeScalars.append(scalar)
                continue
            }
            for byte in String(scalar).utf8 {
                let digits = String(byte, radix: 16, uppercase: true)
                tag += "%" + (digits.count < 2 ? "0" : "") + digits
            }
        }
        return tag
    }
}
