import Errand
import HTTPTypes
import Synchronization

/// Fetches through `Client.run`; the body is in memory, and bounded by `--max-body`.
enum BufferedFetch {
    static func run(_ url: String, _ settings: FetchSettings, client: Client) async -> FetchResult {
        var result = FetchResult(url: url)
        var command = settings.command(url)
        let hops = Mutex((count: 0, url: url))
        command.redirects =
            settings.followsRedirects
            ? .follow(limit: settings.maxRedirects) { hop in
                hops.withLock { $0 = (hop.count, hop.proposal.url) }
                return .follow(hop.proposal)
            } : RedirectPolicy.doNotFollow
        do {
            let response = try await client.run(command)
            result.take(response)
            result.body = .memory(response.body)
            if settings.failsOnStatus, response.statusCode >= 400 {
                result.failure = .status(response.statusCode)
            }
        } catch let error as ErrandError {
            if let response = error.response { result.take(response) }
            result.failure = FetchResult.Failure(error)
        } catch {
            result.failure = FetchResult.Failure(name: "cancelled", message: "cancelled", exit: .interrupted)
        }
        (result.redirects, result.finalURL) = hops.withLock { $0 }
        return result
    }
}
