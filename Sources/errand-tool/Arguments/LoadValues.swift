import ArgumentParser
import Errand
import ErrandLoad
import Foundation

/// The value of `--share`: `2/4`.
struct ShareArgument: ExpressibleByArgument, Hashable, Sendable {
    let share: LoadShare

    init?(argument: String) {
        let parts = argument.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, let number = Int(parts[0]), let count = Int(parts[1]),
            let share = LoadShare(number: number, of: count)
        else { return nil }
        self.share = share
    }
}

/// The value of `--start-at`: a time by RFC 3339, such as `2026-11-26T08:00:00Z`, or seconds since 1970.
struct StartArgument: ExpressibleByArgument, Hashable, Sendable {
    let date: Date

    init?(argument: String) {
        if let seconds = Double(plain: argument), seconds >= 0, seconds < 1e11 {
            date = Date(timeIntervalSince1970: seconds)
            return
        }
        let text = argument.uppercased()
        // The format style would also accept other text after the seconds.
        let form = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)/
        guard let match = text.wholeMatch(of: form) else { return nil }
        let style = Date.ISO8601FormatStyle(includingFractionalSeconds: match.output.1 != nil)
        guard let date = try? style.parse(text) else { return nil }
        self.date = date
    }
}

/// The value of `--warm-up`: a number of requests, or a time with a unit.
enum WarmUpArgument: ExpressibleByArgument, Hashable, Sendable {
    case requests(Int)
    case time(Duration)

    init?(argument: String) {
        if let count = Int(argument) {
            self = .requests(count)
        } else if argument == "0s" {
            self = .time(.zero)
        } else {
            guard let time = DurationArgument(argument: argument), time.hasUnit else { return nil }
            self = .time(time.duration)
        }
    }
}

/// The value of `--stages`: `10s:50,1m:50,10s:0`. Each stage changes the load linearly to its level; `0s` is a step.
struct StagesArgument: ExpressibleByArgument, Hashable, Sendable {
    let stages: [StageArgument]

    init?(argument: String) {
        var stages: [StageArgument] = []
        for part in argument.split(separator: ",", omittingEmptySubsequences: false) {
            guard let stage = StageArgument(part) else { return nil }
            stages.append(stage)
        }
        self.stages = stages
    }

    /// The stages. The first one begins at `level`.
    func stages(from level: Double) -> [LoadStage] { StageArgument.stages(stages, from: level) }
}

/// One stage: its final level and its duration.
struct StageArgument: Hashable, Sendable {
    let duration: Duration
    let level: Double

    init(duration: Duration, level: Double) {
        self.duration = duration
        self.level = level
    }

    init?(_ text: Substring) {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2, let level = Double(plain: parts[1]), level >= 0 else { return nil }
        guard let duration = Self.duration(String(parts[0])) else { return nil }
        self.init(duration: duration, level: level)
    }

    /// A time that may be zero.
    static func duration(_ text: String) -> Duration? {
        text == "0" || text == "0s" ? .zero : DurationArgument(argument: text)?.duration
    }

    static func stages(_ stages: [StageArgument], from level: Double) -> [LoadStage] {
        var level = level
        return stages.map { stage in
            defer { level = stage.level }
            // A step takes no time, so it has no line.
            return LoadStage(
                from: stage.duration == .zero ? stage.level : level, to: stage.level, for: stage.duration)
        }
    }
}

/// The value of `--threshold` and `--abort-on`. The library parses the text, and its error has a position.
struct ThresholdArgument: ExpressibleByArgument, Hashable, Sendable {
    let text: String

    init(argument: String) {
        text = argument
    }

    func threshold(of option: String, aborts: Bool) throws(ToolError) -> LoadThreshold {
        do {
            var threshold = try LoadThreshold(parsing: text)
            threshold.aborts = aborts
            return threshold
        } catch {
            throw ToolError(.usage, "\(option) \(Shown.text(error.description))")
        }
    }
}

/// A share such as `2%` or `0.02`.
struct PercentArgument: ExpressibleByArgument, Hashable, Sendable, CustomStringConvertible {
    let share: Double

    init?(argument: String) {
        let isPercent = argument.hasSuffix("%")
        guard let value = Double(plain: isPercent ? String(argument.dropLast()) : argument), value >= 0 else {
            return nil
        }
        let share = isPercent ? value / 100 : value
        guard share <= 1 else { return nil }
        self.share = share
    }

    init(share: Double) {
        self.share = share
    }

    var description: String { (share * 100).text(share * 100 < 10 ? 1 : 0) + "%" }
}
