public import Errand

/// What the users of a load test do.
public struct LoadScenario: Sendable {
    /// What one iteration of a user is.
    package enum Work: Sendable {
        /// One request, chosen by weight; sent by closures, which is cheapest.
        case requests([WeightedRequest])
        /// The steps of a user, as code.
        case steps(@Sendable (LoadUser) async throws -> Void)
    }

    /// The name in reports and thresholds.
    public var name: String
    /// The amount of load over time.
    public var shape: LoadShape
    /// The settings of the clients. All users share the threads and connections of one engine.
    ///
    /// If ``/Errand/Client/Configuration/cookies`` is not off, each user has its own cookie jar in memory. In the
    /// closed model a user keeps its cookies over all its iterations. In the open model each iteration is a new visitor
    /// and begins without cookies. Each of these users also has its own client, which takes some KiB.
    ///
    /// If ``/Errand/Client/Configuration/inFlightLimit``, ``/Errand/Client/Configuration/originInFlightLimit`` or
    /// ``/Errand/Client/Configuration/queueCapacity`` is `nil`, it does not limit the users, whatever the default of a
    /// client is.
    ///
    /// With `Client.Configuration.resilience` all users of the scenario share one retry budget and one set of breakers,
    /// unless `Client.Configuration.resilienceParts` are given. ``ScenarioStatistics/resilience`` has their counts.
    ///
    /// ``/Errand/Client/Configuration/callbackQueue`` and ``/Errand/Client/Configuration/reportsStops`` have no effect.
    public var configuration: Client.Configuration
    /// The feeds of data. A user reads a row by the name of the feed (``LoadUser/row(of:)``). Default: none.
    public var data: [LoadData] = []
    /// The statuses that count as errors although the command accepts them. Default: 400...599.
    public var errorStatuses = StatusCodes.in(400...599)
    package var work: Work
    /// The names of the requests and checks of steps, where they are known before the run.
    package var namesOfSteps: (requests: [String], checks: [String])?

    /// Whether the steps send one request in each iteration.
    package var stepsSendOneRequest = false

    /// Whether each iteration sends one request.
    var sendsOneRequest: Bool {
        if case .requests = work { true } else { stepsSendOneRequest }
    }

    /// Users that carry out `steps` in each iteration:
    ///
    /// ```swift
    /// LoadScenario("shop", shape: .users(50, for: .seconds(60)), configuration: configuration) { user in
    ///     let login = try await user.run(LogIn(name: user.number.description))
    ///     try await user.think(.seconds(1))
    ///     try await user.run(Order(token: login.token), named: "order")
    /// }
    /// ```
    ///
    /// An error that `steps` throws ends the iteration, which counts as failed; the user begins the next one.
    public init(
        _ name: String, shape: LoadShape, configuration: Client.Configuration,
        steps: @escaping @Sendable (LoadUser) async throws -> Void
    ) {
        self.name = name
        self.shape = shape
        self.configuration = configuration
        work = .steps(steps)
    }

    /// Users that send one of `requests` in each iteration, chosen by weight.
    public init(_ name: String, shape: LoadShape, configuration: Client.Configuration, requests: [WeightedRequest]) {
        self.name = name
        self.shape = shape
        self.configuration = configuration
        work = .requests(requests)
    }
}
