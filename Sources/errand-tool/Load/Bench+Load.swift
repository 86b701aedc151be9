import Errand
import ErrandLoad
import Foundation
import HTTPTypes

extension Bench {
    func target() throws(ToolError) -> BenchTarget {
        try BenchTarget(targets, isLoad: !load.given.isEmpty || !outputs.given.isEmpty)
    }

    /// Checks all options and makes the plan.
    func session(_ target: BenchTarget) throws -> LoadSession {
        try checkLayers()
        try checkCounts()
        let common = try common()
        var source: String?
        var plan: LoadPlan
        switch target {
        case .url(let url): plan = try self.plan([url], common)
        case .urls(let urls): plan = try self.plan(urls, common)
        case .files(let files): plan = try self.plan(files, common)
        case .plan(let path):
            try checkPlan()
            source = path
            plan = try LoadPlanFile.read(path, common)
        }
        if let name = load.name { plan.name = name }
        if let seed = load.seed { plan.seed = seed }
        if let share = load.share { plan.share = share.share }
        if let start = load.startAt { plan.start = start.date }
        if let grace = load.grace { plan.gracePeriod = grace.duration ?? .zero }
        plan.thresholds += try load.thresholds()
        switch warmUp {
        case .time(let time): plan.warmUp = time
        case .requests(let count):
            guard count == 0 else {
                throw ToolError(.usage, "--warm-up \(count): a load test requires a time with a unit, such as 5s")
            }
            plan.warmUp = .zero
        case nil: break
        }
        return LoadSession(plan: plan, outputs: outputs, isJSON: json, showsProgress: progress, source: source)
    }

    // MARK: Checks

    /// Options that measure the layers of the library have no meaning in a load test.
    private func checkLayers() throws(ToolError) {
        let given: [(String, Bool)] = [
            ("--mode", mode != .closure), ("--cache", cache != nil), ("--tick", tick != nil),
        ]
        guard let (name, _) = given.first(where: \.1) else { return }
        let others = load.given + outputs.given
        let reason = others.first.map { "together with \($0)" } ?? "for files, plans and several URLs"
        throw ToolError(.usage, "\(name) measures one URL, and cannot be used \(reason)")
    }

    private func checkPlan() throws(ToolError) {
        let given: [(String, Bool)] = [
            ("-n", requests != nil), ("-d", duration != nil), ("--rate", rate != nil), ("--data", data != nil),
            ("-X", method != nil), ("-H", !headers.isEmpty), ("--user", user != nil), ("--bearer", bearer != nil),
        ]
        guard let name = given.first(where: \.1)?.0 ?? load.givenOfShape.first else { return }
        throw ToolError(.usage, "\(name) cannot be used with a plan, which says that itself")
    }

    // MARK: What all scenarios share

    private func common() throws -> LoadCommon {
        var configuration = Client.Configuration()
        configuration.userAgent = nil
        configuration.loops = loops
        configuration.maxConcurrentStreams = streams
        configuration.connection = try connection()
        configuration.timeouts = Timeouts(connect: .after(timeout.duration), idle: .after(timeout.duration))
        configuration.redirects = .doNotFollow
        configuration.resilience = try resilience.settings(.closure)
        return LoadCommon(
            configuration: configuration, seed: load.seed, variables: VariableArgument.values(load.variable))
    }

    // MARK: Shape

    /// The shape that the command line describes, and the largest number of requests.
    private func shape() throws(ToolError) -> (shape: LoadShape, limit: UInt64?) {
        let isOpen = rate != nil
        if load.stages == nil || rate != 0 { try checkRate() }
        if load.users != nil, isOpen {
            throw ToolError(.usage, "--users and --rate exclude each other; --max-users limits the users of a rate")
        }
        for (name, isGiven) in [("--poisson", load.poisson), ("--max-users", load.maxUsers != nil)]
        where isGiven && !isOpen {
            throw ToolError(.usage, "\(name) requires --rate")
        }
        // Users that have ended send no more requests, so a number of requests might never be reached.
        if load.feedEnd == .fail, !load.feed.isEmpty, duration == nil, load.stages == nil {
            throw ToolError(.usage, "--feed-end fail requires -d or --stages")
        }
        try check(load.users, "--users")
        try check(load.maxUsers, "--max-users")
        let stages: [LoadStage]
        if let given = load.stages {
            for (name, isGiven) in [("--ramp", load.ramp != nil), ("-d", duration != nil)] where isGiven {
                throw ToolError(.usage, "\(name) and --stages exclude each other; the stages have times")
            }
            stages = given.stages(from: rate ?? load.users.map(Double.init) ?? 0)
        } else {
            stages = try constant(rate ?? Double(load.users ?? connections))
        }
        // If no time is given, the number of requests ends the run.
        let limit = requests ?? (duration == nil && load.stages == nil ? 10_000 : nil)
        guard isOpen else { return (.users(stages), limit.map(UInt64.init)) }
        return (
            .arrivals(
                stages, spacing: load.poisson ? .poisson : .uniform, maxUsers: load.maxUsers ?? connections),
            limit.map(UInt64.init)
        )
    }

    private func constant(_ level: Double) throws(ToolError) -> [LoadStage] {
        let time = try measuredTime()
        let ramp = load.ramp.map { [LoadStage(from: 0, to: level, for: $0.duration)] } ?? []
        let rest = LoadPlan.longest - (load.ramp?.duration ?? .zero)
        if let time, time > rest { throw ToolError(.usage, "-d and --ramp together are more than 30 days") }
        guard rest > .zero else { throw ToolError(.usage, "--ramp leaves no time within 30 days for the load") }
        return ramp + [LoadStage(from: level, to: level, for: time ?? rest)]
    }

    private func check(_ users: Int?, _ name: String) throws(ToolError) {
        guard let users, !(1...LoadPlan.mostUsers).contains(users) else { return }
        throw ToolError(.usage, "\(name) is \(users), expected 1 to \(LoadPlan.mostUsers.grouped)")
    }

    // MARK: Plans

    private func plan(_ urls: [URLArgument], _ common: LoadCommon) throws -> LoadPlan {
        if let name = load.givenOfFiles.first { throw ToolError(.usage, "\(name) requires a .http file") }
        guard load.weight.count <= urls.count else {
            throw ToolError(.usage, "--weight is given \(load.weight.count) times for \(urls.count) URLs")
        }
        for weight in load.weight where !(weight.isFinite && (0...1_000_000).contains(weight)) {
            throw ToolError(.usage, "--weight is \(weight), expected 0 to 1,000,000")
        }
        let (shape, limit) = try shape()
        let name = urls.count == 1 ? LoadCommon.name(of: urls[0].withoutUser.address) : "\(urls.count) URLs"
        let feeds = try load.data()
        let row = try load.firstRow(feeds)
        let scenario =
            feeds.isEmpty
            ? try plain(urls, shape, common) : try templates(urls, shape, feeds, row, common)
        return LoadPlan(name, scenarios: [scenario], requestLimit: limit)
    }

    private func weight(_ index: Int) -> Double { index < load.weight.count ? load.weight[index] : 1 }

    /// URLs without variables, which is the cheapest scenario.
    private func plain(_ urls: [URLArgument], _ shape: LoadShape, _ common: LoadCommon) throws -> LoadScenario {
        var requests: [WeightedRequest] = []
        var configuration = common.configuration
        // Bodies are dropped, so an endless body takes no memory.
        configuration.limits = Limits(bodyBytes: 1 << 50, decodedBytes: 1 << 50)
        var names: Set<String> = []
        for (index, url) in urls.enumerated() {
            let (address, body, fields, method) = try request(url)
            // Fields that all requests share are set on the client, which is cheaper. With several URLs, one of them
            // may have a user, so each request has its own fields.
            if urls.count == 1 { configuration.headers = fields }
            let base = "\(method.rawValue) \(LoadCommon.name(of: address))"
            let command = LoadCommand(
                method: method, path: address, headers: urls.count == 1 ? HTTPFields() : fields,
                body: body.map { .data($0, contentType: nil) } ?? .empty)
            let name = names.insert(base).inserted ? base : "\(base) #\(index + 1)"
            requests.append(WeightedRequest(command, named: name, weight: weight(index)))
        }
        return LoadScenario("load", shape: shape, configuration: configuration, requests: requests)
    }

    /// URLs, fields and bodies with variables of data.
    private func templates(
        _ urls: [URLArgument], _ shape: LoadShape, _ feeds: [LoadData], _ row: [String: String], _ common: LoadCommon
    ) throws -> LoadScenario {
        var requests: [HTTPFileRequest] = []
        for (index, url) in urls.enumerated() {
            let (address, body, fields, method) = try request(url)
            let place = FilePosition(line: 1)
            do {
                var request = HTTPFileRequest(
                    title: "\(method.rawValue) \(LoadCommon.name(of: address))", position: place, number: index + 1,
                    method: method.rawValue, url: try HTTPTemplate(address[...], at: place))
                if requests.contains(where: { $0.title == request.title }) {
                    request.title = request.title.map { "\($0) #\(index + 1)" }
                }
                for field in fields {
                    request.fields.append(
                        .init(
                            name: field.name.rawName, value: try HTTPTemplate(field.value[...], at: place),
                            position: place))
                }
                if let body {
                    guard let text = String(validating: body, as: UTF8.self) else {
                        throw ToolError(.usage, "--data: with --feed the body must be text")
                    }
                    request.body = [.exact(try HTTPTemplate(text[...], at: place))]
                }
                request.options.weight = weight(index)
                request.options.followsRedirects = false
                requests.append(request)
            } catch let error as HTTPFileError {
                throw ToolError(.usage, "'\(Shown.url(address))': \(error.message)")
            }
        }
        let maker = HTTPRequestMaker(
            variables: HTTPVariables(path: "the command line", row: row), folder: ".",
            settings: common.settings)
        let plan = try HTTPFilePlan(requests, maker: maker)
        let scenario = try HTTPFileScenario(plan, data: feeds, keepsGoing: false, seed: load.seed)
        return try scenario.scenario("load", shape: shape, configuration: common.configuration, hasCookies: false)
    }

    private func plan(_ files: [String], _ common: LoadCommon) throws -> LoadPlan {
        let given: [(String, Bool)] = [
            ("--data", data != nil), ("-X", method != nil), ("-H", !headers.isEmpty), ("--user", user != nil),
            ("--bearer", bearer != nil), ("--weight", !load.weight.isEmpty),
        ]
        if let (name, _) = given.first(where: \.1) {
            throw ToolError(.usage, "\(name) cannot be used with .http files, which say that themselves")
        }
        let (shape, limit) = try shape()
        let feeds = try load.data()
        let selection = HTTPFileSelection(
            files: files, only: load.only, variables: common.variables,
            environmentFiles: load.envFile, environment: load.env, row: try load.firstRow(feeds),
            settings: common.settings)
        let name = files.map { LoadCommon.stem($0) }.joined(separator: "+")
        let scenario = try HTTPFileScenario(
            HTTPFilePlan(selection, order: nil), data: feeds, keepsGoing: load.keepGoing, seed: load.seed)
        return LoadPlan(
            name, scenarios: [try scenario.scenario(name, shape: shape, configuration: common.configuration)],
            requestLimit: limit)
    }
}
