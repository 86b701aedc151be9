/// Why results cannot be merged.
public enum LoadMergeError: Error, Sendable, Hashable, CustomStringConvertible {
    /// There is no result.
    case nothing
    /// The results belong to different plans, which have these names.
    case plans(String, String)
    /// The plans have the same name, but different requests, shapes, data, seeds or thresholds.
    case contents(String)
    /// A share began this much later than another one, so they did not run together.
    case apart(LoadShare, by: Duration)
    /// The plan was divided into these two different numbers of shares.
    case shareCounts(Int, Int)
    /// Two results contain this share.
    case twice(LoadShare)
    /// The time series have intervals of these lengths.
    case intervals(Duration, Duration)
    /// The runs began more than a million intervals apart.
    case starts
    /// The counts are too large to be added.
    case overflow

    /// The reason, in words.
    public var description: String {
        switch self {
        case .nothing: "there is no result to merge"
        case .plans(let one, let other): "the results are of different plans: \"\(one)\" and \"\(other)\""
        case .contents(let name):
            "the results are of different plans with the name \"\(name)\": requests, shapes, data, seed or thresholds differ"
        case .apart(let share, let time):
            "share \(share.index + 1) of \(share.count) began \(NumberText.time(time)) after the first one: they did not run "
                + "together"
        case .shareCounts(let one, let other): "the plan was divided by \(one), and by \(other)"
        case .twice(let share): "two results contain share \(share.index + 1) of \(share.count)"
        case .intervals(let one, let other):
            "the results have intervals of \(NumberText.time(one)) and of \(NumberText.time(other))"
        case .starts: "the runs began too far apart"
        case .overflow: "the counts are too large to be added"
        }
    }
}
