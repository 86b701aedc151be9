import Errand
import ErrandLoad

/// The requests of `.http` files as the steps of a load test's users. The files are parsed once. Each iteration has its
/// own values for the variables.
struct HTTPFileScenario: Sendable {
    private struct Step: Sendable {
        let request: HTTPFileRequest
        /// The index of the file's variables.
        let file: Int
        /// The name in reports.
        let name: String
        let checkNames: [String]
        /// Whether later requests refer to this one.
        let isReferenced: Bool
        /// Whether the body of the response is read.
        let needsBody: Bool
    }

    /// A step that could not be carried out, or whose response does not meet the expectations.
    private struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    private let steps: [Step]
    private let makers: [HTTPRequestMaker]
    private let data: [LoadData]
    /// The sums of the weights up to each request; `nil`: the requests are sent in order.
    private let weights: [Double]?
    private let keepsGoing: Bool
    private let seed: UInt64
    /// Whether `{{$uuid}}` and `{{$randomInt}}` are drawn by the plan's seed.
    private let repeatsValues: Bool

    /// - Parameters:
    ///   - keepsGoing: Whether an iteration goes on after a failure.
    ///   - seed: The seed of the choice by weight and of random values; `nil`: none is given, and random values differ from
    ///     run to run.
    init(_ plan: HTTPFilePlan, data: [LoadData], keepsGoing: Bool, seed: UInt64?) throws {
        var makers: [HTTPRequestMaker] = []
        var files: [Int] = []
        for planned in plan.requests {
            if let file = makers.firstIndex(where: { $0.variables === planned.maker.variables }) {
                files.append(file)
            } else {
                files.append(makers.count)
                makers.append(planned.maker)
            }
        }
        let references = try makers.indices.map { file in
            let own = zip(plan.requests, files).filter { $0.1 == file }.map(\.0.request)
            return try HTTPResponseNeeds(own, makers[file].variables)
        }
        // A request that cannot be made in the first iteration cannot be made in any of them, and nothing would be
        // sent.
        for file in makers.indices {
            let own = zip(plan.requests, files).filter { $0.1 == file }.map(\.0)
            for (planned, isIndependent) in zip(own, references[file].isIndependent) where isIndependent {
                try Self.check(planned)
            }
        }
        steps = zip(plan.requests, files).map { planned, file in
            let request = planned.request
            let needs = request.name.flatMap { references[file].needs[$0] }
            let readsBody = request.options.expectations.contains {
                switch $0.subject {
                case .body, .json: true
                case .status, .header, .duration: false
                }
            }
            let label = makers.count > 1 ? "\(planned.file) \(planned.label)" : planned.label
            return Step(
                request: request, file: file, name: label,
                checkNames: request.options.expectations.map { "\(label): \(HTTPResponseCheck.title(of: $0))" },
                isReferenced: needs != nil, needsBody: readsBody || needs == .body)
        }
        self.makers = makers
        self.data = data
        self.keepsGoing = keepsGoing
        self.seed = seed ?? 1
        repeatsValues = seed != nil
        if plan.order == .mixed {
            var sum = 0.0
            weights = plan.requests.map { planned in
                sum += planned.request.options.weight ?? 1
                return sum
            }
            guard sum > 0 else { throw ToolError(.inputData, "no request has a weight above 0") }
        } else {
            weights = nil
        }
    }

    /// Makes the request with the first row of the data.
    private static func check(_ planned: HTTPFilePlan.Planned) throws {
        do {
            _ = try planned.maker.make(planned.request)
        } catch let error as HTTPFileError {
            throw ToolError(error)
        } catch let error as ErrandError {
            let place = HTTPFileError(planned.request.position, ToolError.text(error)).inFile(planned.file)
            throw ToolError(.inputData, place.text)
        }
    }

    /// The scenario. With cookies, each user has a separate jar.
    func scenario(
        _ name: String, shape: LoadShape, configuration: Client.Configuration, hasCookies: Bool = true
    ) throws -> LoadScenario {
        var configuration = configuration
        configuration.cookies = hasCookies ? .memory : .off
        var scenario: LoadScenario
        if !hasCookies, let requests = try plainRequests() {
            scenario = LoadScenario(name, shape: shape, configuration: configuration, requests: requests)
        } else {
            scenario = LoadScenario(name, shape: shape, configuration: configuration) { user in
                try await run(user)
            }
            scenario.stepsSendOneRequest = weights != nil
        }
        scenario.data = data
        let sent = steps.filter { weights == nil || $0.request.options.weight != 0 }
        scenario.namesOfSteps = (requests: sent.map(\.name), checks: sent.flatMap(\.checkNames))
        // Only the expectations of the file determine whether a response is an error.
        scenario.errorStatuses = .of([Int]())
        return scenario
    }

    /// The requests of a mix, if all of them are plain: no variables, data, expectations or think times, and bodies of
    /// text only. Such requests need no task for each user. `nil`: they are not plain.
    private func plainRequests() throws -> [WeightedRequest]? {
        guard weights != nil, data.isEmpty else { return nil }
        var requests: [WeightedRequest] = []
        for step in steps {
            let request = step.request
            guard request.options.think == nil, request.options.expectations.isEmpty,
                request.url.placeholders.isEmpty, request.fields.allSatisfy({ $0.value.placeholders.isEmpty })
            else { return nil }
            for line in request.body {
                switch line {
                case .text(let template), .exact(let template):
                    guard template.placeholders.isEmpty else { return nil }
                case .file, .bytes: return nil
                }
            }
            var plain = try makers[step.file].make(request)
            plain.limits = Self.unlimited
            let command = LoadFileCommand(plain)
            requests.append(WeightedRequest(command, named: step.name, weight: request.options.weight ?? 1))
        }
        return requests
    }

    private func run(_ user: LoadUser) async throws {
        var row: [String: String] = [:]
        for feed in data { row.merge(try user.row(of: feed.name).values) { first, _ in first } }
        let makers = makers.enumerated().map { file, maker in
            // Each file draws its own random numbers, because the files do not share values.
            let random = repeatsValues ? LoadRandom(seed: LoadRandom.draw(user.valueSeed, UInt64(file), 0)) : nil
            return HTTPRequestMaker(
                variables: HTTPVariables(anew: maker.variables, row: row, random: random), folder: maker.folder,
                settings: maker.settings)
        }
        if let weights {
            let step = steps[chosen(weights, user)]
            return try await carryOut(step, makers[step.file], user).get()
        }
        var failure: (any Error)?
        for step in steps {
            do {
                try await carryOut(step, makers[step.file], user).get()
            } catch {
                guard keepsGoing, !(error is CancellationError) else { throw error }
                failure = failure ?? error
            }
        }
        if let failure { throw failure }
    }

    /// The index of the request for this iteration, which is the same on every machine.
    private func chosen(_ weights: [Double], _ user: LoadUser) -> Int {
        let number = LoadRandom.draw(seed, user.source, UInt64(max(0, user.iteration)))
        let place = LoadRandom.unit(number) * (weights.last ?? 0)
        return weights.firstIndex { place < $0 } ?? weights.count - 1
    }

    /// Sends the request, then waits for the think time. It waits after a failure too, so that a server that fails at
    /// once does not get more requests.
    private func carryOut(
        _ step: Step, _ maker: HTTPRequestMaker, _ user: LoadUser
    ) async throws -> Result<Void, any Error> {
        let result: Result<Void, any Error>
        do {
            try await send(step, maker, user)
            result = .success(())
        } catch {
            result = .failure(error)
        }
        if let think = step.request.options.think { try await user.think(think) }
        return result
    }

    /// The limits of a body that is dropped: it takes no memory, so its length has no limit.
    private static let unlimited = Limits(bodyBytes: 1 << 50, decodedBytes: 1 << 50)

    private func send(_ step: Step, _ maker: HTTPRequestMaker, _ user: LoadUser) async throws {
        var command: HTTPFileCommand
        do {
            command = try maker.make(step.request)
        } catch {
            throw Failure(description: "\(step.name): \(FetchResult.Failure(making: error).message)")
        }
        // The checks are counted by name, so they are made here and not by the command.
        let checks = command.checks
        command.checks = []
        command.holdsResponse = step.isReferenced || !checks.isEmpty
        if !step.needsBody {
            command.options.insert(.discardsBody)
            command.limits = Self.unlimited
        }
        let name = step.isReferenced ? step.request.name : nil
        if let name { maker.variables.record(command.exchange, of: name) }
        let answer: HTTPFileCommand.Response
        do {
            answer = try await user.run(command, named: step.name)
        } catch let error as ErrandError {
            if let name, let response = error.response { maker.variables.record(response, of: name) }
            throw error
        }
        guard let response = answer.held?.take() else { return }
        if let name { maker.variables.record(response, of: name) }
        var unmet: [String] = []
        for (check, name) in zip(checks, step.checkNames) {
            let failure = check.failure(response)
            user.check(name, failure == nil)
            if let failure { unmet.append(failure) }
        }
        guard unmet.isEmpty else {
            throw Failure(description: "\(step.name): \(unmet.joined(separator: "; "))")
        }
    }
}
