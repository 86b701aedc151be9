import Errand
import HTTPTypes
import Synchronization

/// Runs one URL of `errand fetch`. The body is written as it arrives. Therefore memory use does not depend on its size,
/// and server-sent events appear immediately. Output for standard output waits for the URL's turn; until then,
/// backpressure holds the rest in the connection.
struct FetchRun: Sendable {
    let job: FetchJob
    let number: Int
    let settings: FetchSettings
    let clients: FetchClients
    let turn: FetchTurn
    let progress: FetchProgress
    let printer: FetchPrinter

    /// Runs the transfer to its last byte and prints the result. Returns what went wrong.
    func run() async -> ExitStatus? {
        let result = await fetched()
        progress.ended()
        await turn.wait(for: number)
        defer { turn.end(number) }
        return await printer.end(job, result, settings)?.exit
    }

    private func fetched() async -> FetchResult {
        var result = FetchResult(url: job.url)
        guard let policy = settings.retry else {
            _ = await fetch(&result, with: clients.plain)
            return result
        }
        var retries = FetchRetries(policy)
        while true {
            let client = clients.retrying(
                retries.left, FetchRetryNotes(job.url, before: retries.made, limit: retries.limit))
            let failure = await fetch(&result, with: client)
            // After the shutdown, the client's accessories have received the end of the request.
            await client.shutdown(.cancel)
            retries.count(client)
            result.retries = retries.made
            guard let failure, let wait = retries.next(after: failure.error) else { return result }
            progress.restarted(length: result.headers[.contentLength].flatMap(UInt64.init), received: failure.received)
            FetchRetryNotes.show(
                job.url, FetchRetryNotes.text(failure.error.transientFailure?.rawValue ?? ""), retry: retries.made,
                of: retries.limit, after: wait)
            result = FetchResult(url: job.url)
            result.retries = retries.made
            do {
                try await Task.sleep(for: wait)
            } catch {
                result.failure = .cancelled
                return result
            }
        }
    }

    /// A body that broke off. Nothing of it was printed or written to a pipe, and the request can be resent.
    private struct BrokenBody {
        let error: ErrandError
        let received: UInt64
    }

    private func fetch(_ result: inout FetchResult, with client: Client) async -> BrokenBody? {
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
                return nil
            }
            // The library treats a limit of 0 redirects as "do not follow", and reports no error.
            if settings.followsRedirects, settings.maxRedirects == 0, result.isRedirect {
                result.failure = FetchResult.Failure(.tooManyRedirects.with(message: "stopped after 0 redirects"))
                stop(streamed, &result)
                return nil
            }
            let failure = await receive(streamed, &result)
            if let metrics = streamed.request.metrics { result.take(metrics) }
            if let failure, settings.retry != nil, (try? client.describe(command).body.isReplayable) == true {
                return failure
            }
        } catch let error as ErrandError {
            if let response = error.response { result.take(response) }
            if let metrics = error.metrics { result.take(metrics) }
            result.failure = FetchResult.Failure(error, of: job.url)
        } catch {
            result.failure = .cancelled
        }
        (result.redirects, result.finalURL) = hops.withLock { $0 }
        return nil
    }

    /// Ends the transfer without the body, as `curl -f` does. The metrics are those up to the head.
    private func stop(_ streamed: StreamedResponse, _ result: inout FetchResult) {
        streamed.request.stop()
        result.take(streamed.head.metrics)
    }

    /// Returns the failure of the body if the response may be requested again.
    private func receive(_ streamed: StreamedResponse, _ result: inout FetchResult) async -> BrokenBody? {
        let output = FetchOutput(job.output)
        progress.began(length: result.headers[.contentLength].flatMap(UInt64.init))
        if case .standardOutput = job.output { await turn.wait(for: number) }
        result.isReceived = true
        var failure = await printer.begin(job, result)
        if failure == nil { failure = await output.open() }
        var count: UInt64 = 0
        var broken: ErrandError?
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
                broken = error
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
        // When the tool closes a pipe, the reader sees its end, even if nothing was written.
        let isBegun = !job.output.isStandardOutput || count > 0 || printer.includesHead
        let isPrinted = output.isFinal && isBegun
        return isPrinted ? nil : broken.map { BrokenBody(error: $0, received: count) }
    }
}
