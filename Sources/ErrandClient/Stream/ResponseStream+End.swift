import Synchronization

extension ResponseStream {
    /// Called at the end of a transfer: its result in the form in which complete responses are judged.
    func whole(_ result: TransferResult) -> TransferResult {
        let (end, former) = guarded.withLock { guarded -> (TransferResult?, HeldResponse.Question?) in
            let seen: Response
            let isCut: Bool
            var former: HeldResponse.Question?
            switch guarded.state {
            case .collecting(_, let collected):
                isCut = collected.isCut
                seen = collected.head.assembled(
                    guarded.kept.bytes, by: result.response, attachment: isCut ? ResponseMark.truncated : nil)
            case .holding(let caller, var held):
                let body = held.question.isOpen ? guarded.kept.bytes : []
                (seen, isCut) = (held.head.assembled(body, by: result.response), held.isCut)
                if held.question.isOpen {
                    former = held.question
                    held.question = .leftToTheEnd
                }
                held.isEnded = true
                guarded.state = .holding(caller, held)
            case .delivered(_, let head):
                (seen, isCut) = (head.assembled([], by: result.response), false)
            case .idle, .waiting, .over:
                return (nil, nil)
            }
            // The stream ended the transfer; this is no failure.
            if isCut { return (.response(seen), former) }
            return switch result {
            case .response: (.response(seen), former)
            case .failure(let error): (.failure(error.with(response: seen)), former)
            }
        }
        former?.cancel()
        return end ?? result
    }

    /// Called at the end of the run. Hands over a success for which no head was reported (a transport that buffers), or
    /// that an interceptor has made of another response.
    func end(_ result: Result<Response, ErrandError>, of request: AnyRequest) {
        let (before, rest) = guarded.withLock { guarded in
            let before = (guarded.state, guarded.kept)
            guarded.state = .over
            guarded.kept = ChunkQueue()
            return before
        }
        if case .holding(_, let held) = before { held.question.cancel() }
        switch (before, result) {
        case (.idle, _), (.over, _):
            break
        case (.delivered(let channel, _), .success):
            channel.finish(nil)
        case (.delivered(let channel, _), .failure(let error)):
            channel.finish(error)
        case (.holding(let caller, let held), .success) where !held.isReplaced:
            deliver(held.head, rest, to: caller, of: request)
        case (.waiting(let caller), .success(let response)), (.collecting(let caller, _), .success(let response)),
            (.holding(let caller, _), .success(let response)):
            var whole = ChunkQueue()
            whole.append(response)
            deliver(response.assembled([]), whole, to: caller, of: request)
        case (.waiting(let caller), .failure(let error)), (.collecting(let caller, _), .failure(let error)),
            (.holding(let caller, _), .failure(let error)):
            caller.resume(throwing: error.thrown)
        }
    }

    /// Called when the whole body has arrived. If the upload is still open, the reader gets the end of the body now:
    /// libcurl (7.88.1) reports the end of a response when both have ended, and the sender may be waiting for it.
    func reportEnd(_ channel: BodyChannel, of request: AnyRequest) {
        if request.isUploading { channel.finish(nil) }
    }

    private func deliver(_ head: Response, _ body: ChunkQueue, to caller: Caller, of request: AnyRequest) {
        let channel = BodyChannel(kept: body)
        channel.finish(nil)
        perform(of: request, .deliver(caller, channel, head, isWhole: false))
    }
}
