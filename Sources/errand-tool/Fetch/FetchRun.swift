import Errand
import HTTPTypes
import Synchronization

/// Runs one URL of `errand fetch`. The body is written as it arrives, so that memory use does not depend on its size,
/// and server-sent events appear immediately. Output for standard output waits for the URL's turn; until then
/// backpressure holds the rest in the connection.
struct FetchRun: Sendable {
    let job: FetchJob
    let number: Int
    let settings: FetchSettings
    let client: Client
    let turn: FetchTurn
    let progress: FetchProgress
    let printer: FetchPrinter

    /// Runs the transfer to its last byte and prints the result. Returns what went wrong.
    func run() async -> ExitStatus? {
        var result = FetchResult(url: job.url)
        await fetch(&result)
        progress.ended()
        await turn.wait(for: number)
        defer { turn.end(number) }
        return await printer.end(job, result, settings)?.exit
    }

    private func fetch(_ result: inout FetchResult) async {
        let hops = Mutex((count: 0, url: job.url))
        do {
            let command = try settings.command(job) { hop in
                hops.withLock { $0 = (hop.count, hop.proposal.url) }
                return .follow(hop.proposal)
            }
            let streamed = try await client.stream(command)
            result.take(streamed.head)
            (result.redirects, result.finalURL) = hops.withLock { $0 }
            if settings.refuses(result.status) {
                result.failure = .status(streamed.head)
                stop(streamed, &result)
                return
            }
            // The library takes a limit of 0 redirects as "do not follow", and reports no error.
            if settings.followsRedirects, settings.maxRedirects == 0, result.isRedirect {
                result.failure = FetchResult.Failure(.tooManyRedirects.with(message: "stopped after 0 redirects"))
                stop(streamed, &result)
                return
            }
            await receive(streamed, &result)
            if let metrics = streamed.request.metrics { result.take(metrics) }
        } catch let error as ErrandError {
            if let response = error.response { result.take(response) }
            if let metrics = error.metrics { result.take(metrics) }
            result.failure = FetchResult.Failure(error, of: job.url)
        } catch {
            result.failure = .cancelled
        }
        (result.redirects, result.finalURL) = hops.withLock { $0 }
    }

    /// Ends the transfer without the body, as `curl -f` does. The metrics are those up to the head.
    private func stop(_ streamed: StreamedResponse, _ result: inout FetchResult) {
        streamed.request.stop()
        result.take(streamed.head.metrics)
    }

    private func receive(_ streamed: StreamedResponse, _ result: inout FetchResult) async {
        let output = FetchOutput(job.output)
        progress.began(length: result.headers[.contentLength].flatMap(UInt64.init))
        if case .standardOutput = job.output { await turn.wait(for: number) }
        result.isReceived = true
        var failure = await printer.begin(job, result)
        if failure == nil { failure = await output.open() }
        var count: UInt64 = 0
        if failure == nil {
            do {
                for try await chunk in streamed.body {
                    failure = await output.write(chunk)
                    if failure != nil { break }
                    count += UInt64(chunk.count)
                    progress.received(UInt64(chunk.count))
                }
            } catch let error as ErrandError {
                failure = FetchResult.Failure(error)
                if let metrics = error.metrics { result.take(metrics) }
            } catch {
                failure = .cancelled
            }
        }
        if failure == nil { failure = await output.finish() }
        if failure != nil { await output.discard() }
        result.failure = failure
        result.bodyBytes = count
        if case .file(let path) = job.output, failure == nil { result.savedTo = path }
    }
}
