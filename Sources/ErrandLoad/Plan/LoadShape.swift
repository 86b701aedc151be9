/// The amount of load that a scenario makes over time.
public enum LoadShape: Sendable, Hashable {
    /// The closed model: this many users at a time. Each user begins its next iteration when its last one has ended, so
    /// a slow server gets less load.
    case users([LoadStage])
    /// The open model: this many iterations begin per second, whatever the server does. `maxUsers`: the most iterations
    /// at the same time. An arrival beyond this number waits, and its latency counts from the time at which it was due.
    case arrivals([LoadStage], spacing: ArrivalSpacing = .uniform, maxUsers: Int)

    /// A constant number of users.
    public static func users(_ count: Int, for duration: Duration) -> LoadShape {
        .users([LoadStage(from: Double(count), to: Double(count), for: duration)])
    }

    /// A constant rate in iterations per second.
    public static func arrivals(
        perSecond rate: Double, for duration: Duration, spacing: ArrivalSpacing = .uniform, maxUsers: Int
    ) -> LoadShape {
        .arrivals([LoadStage(from: rate, to: rate, for: duration)], spacing: spacing, maxUsers: maxUsers)
    }
}

/// A part of a load over time: the level changes linearly from one value to another.
public struct LoadStage: Sendable, Hashable {
    /// Users, or iterations per second, at the start of the stage.
    public var from: Double
    /// Users, or iterations per second, at the end of the stage. Equal to ``from``: a constant load.
    public var to: Double
    /// How long the stage lasts. Zero: a step, which adds no load itself.
    public var duration: Duration

    /// A stage; nothing is checked before ``LoadPlan/validate()``.
    public init(from: Double, to: Double, for duration: Duration) {
        self.from = from
        self.to = to
        self.duration = duration
    }
}

/// How arrivals are spaced.
public enum ArrivalSpacing: String, Sendable, Hashable, Codable, CaseIterable {
    /// Equal distances.
    case uniform
    /// A Poisson process: exponential distances, by the plan's seed. Independent users arrive this way.
    case poisson
}
