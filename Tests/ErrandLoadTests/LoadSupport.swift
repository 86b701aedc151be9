import Errand
import ErrandLoad
import ErrandTesting

extension ScriptedServer {
    /// Each request to `path` gets this answer.
    func answers(_ path: String, status: Int = 200, fields: String = "", after milliseconds: Int = 0) throws {
        var steps: [Step] = milliseconds > 0 ? [.sleep(milliseconds: milliseconds)] : []
        steps.append(.send("HTTP/1.1 \(status) Status\r\n\(fields)Content-Length: 2\r\n\r\nok"))
        try on(path, steps)
    }

    /// A plan with one scenario of requests to `paths`.
    func plan(_ shape: LoadShape, _ paths: [String] = ["/"]) -> LoadPlan {
        let requests = paths.map { WeightedRequest(RawCommand(url: url($0)), named: $0) }
        let scenario = LoadScenario("main", shape: shape, configuration: Client.Configuration(), requests: requests)
        return LoadPlan("test", scenarios: [scenario])
    }

    /// A plan with one scenario of steps.
    func plan(
        _ shape: LoadShape, cookies: CookieStorage = .off, steps: @escaping @Sendable (LoadUser) async throws -> Void
    ) -> LoadPlan {
        var configuration = Client.Configuration(baseURL: url("/"))
        configuration.cookies = cookies
        return LoadPlan(
            "test", scenarios: [LoadScenario("main", shape: shape, configuration: configuration, steps: steps)])
    }
}

extension LoadPlan {
    /// A plan for tests of the ledger, whose requests are never sent.
    static func stub(_ shape: LoadShape, weights: [Double] = [1]) -> LoadPlan {
        let requests = weights.enumerated().map { place, weight in
            WeightedRequest(RawCommand(url: "http://service.test/\(place)"), named: "\(place)", weight: weight)
        }
        let scenario = LoadScenario("main", shape: shape, configuration: Client.Configuration(), requests: requests)
        return LoadPlan("stub", scenarios: [scenario])
    }
}

/// A number of seconds in nanoseconds.
func seconds(_ seconds: Double) -> UInt64 { UInt64(seconds * 1e9) }
