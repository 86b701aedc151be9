import Foundation
import FoundationNetworking
import RivalSupport

/// One session, used with completion handlers or from tasks.
struct SessionRival: Rival {
    let mode: String
    /// The session uses one thread of its own for all transfers.
    let loops = 1
    private let isAsync: Bool
    private let session: URLSession
    private let plan: RivalPlan
    private let template: URLRequest
    private let encoder = JSONEncoder()
    private let decoder = JSONDecoder()

    init(_ plan: RivalPlan, _ mode: URLSessionRival.Mode) {
        self.mode = mode.rawValue
        self.plan = plan
        isAsync = mode == .async
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpMaximumConnectionsPerHost = plan.connections
        configuration.urlCache = nil
        configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
        configuration.httpCookieStorage = nil
        configuration.httpShouldSetCookies = false
        configuration.urlCredentialStorage = nil
        configuration.timeoutIntervalForRequest = Double(RichRequest.idleSeconds)
        if plan.isRich { configuration.timeoutIntervalForResource = Double(RichRequest.totalSeconds) }
        session = URLSession(configuration: configuration)
        var template = URLRequest(url: plan.url)
        template.httpMethod = plan.method
        template.httpBody = plan.body
        for field in plan.fields { template.addValue(field.value, forHTTPHeaderField: field.name) }
        self.template = template
    }

    func send(_ ticket: Load.Ticket, _ load: Load) {
        if isAsync {
            sendFromTask(ticket, load)
            return
        }
        do {
            session.dataTask(with: try request()) { data, response, error in
                let outcome = error.map { RequestEnd.failed("\($0)") } ?? outcome(data, response)
                if let next = load.end(ticket, outcome) { send(next, load) }
            }.resume()
        } catch {
            if let next = load.end(ticket, .failed("\(error)")) { send(next, load) }
        }
    }

    private func sendFromTask(_ ticket: Load.Ticket, _ load: Load) {
        Task {
            var next: Load.Ticket? = ticket
            while let current = next {
                do {
                    let (data, response) = try await session.data(for: request())
                    next = load.end(current, outcome(data, response))
                } catch {
                    next = load.end(current, .failed("\(error)"))
                }
            }
        }
    }

    private func request() throws -> URLRequest {
        var request = template
        if plan.isTyped { request.httpBody = try encoder.encode(Item.sample) }
        if plan.isRich {
            for field in RichRequest.fields { request.addValue(field.value, forHTTPHeaderField: field.name) }
            request.timeoutInterval = Double(RichRequest.idleSeconds)
            RichRequest.begin()
        }
        return request
    }

    private func outcome(_ data: Data?, _ response: URLResponse?) -> RequestEnd {
        guard let response = response as? HTTPURLResponse, let data else { return .failed("no HTTP response") }
        do {
            if plan.isTyped { _ = try decoder.decode(Item.self, from: data) }
            if plan.isRich { RichRequest.read(String(decoding: data, as: UTF8.self)) }
        } catch {
            return .failed("\(error)")
        }
        if plan.isRich {
            RichRequest.end(plan.method, plan.address, status: response.statusCode, bytes: data.count)
        }
        return .answered(status: response.statusCode, bytes: data.count)
    }

    func shutDown() {
        session.invalidateAndCancel()
    }
}
