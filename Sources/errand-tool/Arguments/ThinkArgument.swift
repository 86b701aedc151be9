import ErrandLoad

/// The value of `# @think`, and of `think` in a plan: `1s`, `500ms-2s`, or `~2s` for an exponential distribution around
/// a mean. A value without a unit is in seconds.
struct ThinkArgument: Hashable, Sendable {
    let time: ThinkTime

    static let rule = "a time such as 1s, a range such as 500ms-2s, or the mean of an exponential distribution, ~2s"

    init?(argument: String) {
        if argument.hasPrefix("~") {
            guard let mean = DurationArgument(argument: String(argument.dropFirst())) else { return nil }
            time = .exponential(mean: mean.duration)
            return
        }
        let bounds = argument.split(separator: "-", omittingEmptySubsequences: false).map {
            $0 == "0" || $0 == "0s" ? .zero : DurationArgument(argument: String($0))?.duration
        }
        switch bounds.count {
        case 1:
            guard let fixed = bounds[0] else { return nil }
            time = .fixed(fixed)
        case 2:
            guard let low = bounds[0], let high = bounds[1], low <= high else { return nil }
            time = .uniform(low...high)
        default:
            return nil
        }
    }
}
