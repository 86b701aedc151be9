import Synchronization

extension Request {
    enum Processed {
        case verdict(Verdict)
        /// Interceptors want the request to be sent again, as the given call of `next`.
        case replay(RequestDescription, call: Int, Interception)
    }

    /// Bodies of this size and more are not decoded on the callback queue, where other callbacks wait: 64 KiB of JSON
    /// take the time of a hundred small responses. A command with the default `Response` and without a shape is assumed
    /// to decode nothing.
    private static var largeBody: Int { 65536 }

    /// Whether judging runs code that may wait or take long.
    func mayWait(_ result: TransferResult) -> Bool {
        if command.givenFailurePreprocessor != nil { return true }
        guard let size = result.bodySize else { return false }
        if command.givenValidator != nil || command.givenSuccessPreprocessor != nil || laterValidator != nil {
            return true
        }
        guard size >= Self.largeBody else { return false }
        return C.Response.self != ErrandModel.Response.self || shape != nil
    }

    /// Checks status, content type, decoding and shape in this order; the first failure decides. By RFC 9110 the status
    /// tells what the body is about, so a 404 with an HTML page fails by its status and not by its content type.
    ///
    /// An accepted value is stored, unless it is judged `in` a step whose result is no longer needed.
    func judge(_ result: TransferResult, by builder: RequestBuilder, in step: WorkStep? = nil) -> Verdict {
        switch result {
        case .failure(let error):
            return .failure(error)
        case .response(let response):
            do throws(ErrandError) {
                if let group { return try keepValue(of: group, response, in: step) }
                let value = try value(of: response, by: builder)
                return keep(value, response, in: step)
            } catch {
                return .failure(error)
            }
        }
    }

    /// The value that the command makes of a successful response.
    package func value(of response: Response, by builder: RequestBuilder) throws(ErrandError) -> C.Response {
        do {
            return try accept(response, by: builder)
        } catch let error as ErrandError {
            throw error.with(response: error.response ?? response, isRefusal: false)
        } catch {
            let message = "the response cannot be decoded: \(error)"
            throw .responseDecodingFailed.with(message: message, response: response, underlying: error)
        }
    }

    private func accept(_ response: Response, by builder: RequestBuilder) throws -> C.Response {
        let codes = acceptedStatusCodes(builder)
        guard codes.contains(response.statusCode) else { throw statusNotAccepted(response, codes) }
        let types = acceptedContentTypes(builder)
        if !types.isAny { try types.check(response) }
        let value = try command.decode(response)
        if let shape {
            try shape.check(response, answering: transferDescription?.method ?? command.givenMethod)
        }
        return value
    }

    @inline(never)
    private func keepValue(
        of group: any GroupCarrier, _ response: Response, in step: WorkStep?
    ) throws(ErrandError) -> Verdict {
        guard let value = group.value() as? C.Response else {
            let message = "the last step has no value of type \(C.Response.self)"
            throw .invalidArgument.with(message: message, response: response, isRefusal: false)
        }
        return keep(value, response, in: step)
    }

    /// Stores the value. After a stop a new run may have begun, which this value does not belong to.
    private func keep(_ value: C.Response, _ response: Response, in step: WorkStep?) -> Verdict {
        let isKept = core.withLock { core in
            if let step, !core.machine.isWorking(step.number) { return false }
            // No earlier value is replaced: a run begins without a value, and drops a cached value before it asks the
            // network.
            storedValue = value
            hasUnreportedValue = true
            return true
        }
        return isKept ? .success(response) : .failure(.cancelled)
    }

    func acceptedStatusCodes(_ builder: RequestBuilder) -> StatusCodes {
        (overrides?.acceptedStatusCodes ?? command.givenAcceptedStatusCodes).inheriting(
            builder.settings.acceptedStatusCodes)
    }

    func acceptedContentTypes(_ builder: RequestBuilder) -> ContentTypes {
        (overrides?.acceptedContentTypes ?? command.givenAcceptedContentTypes)
            .inheriting(builder.settings.acceptedContentTypes)
    }

    // The shape of the overrides does not apply to a streamed response: its reader gets the body.
    private var shape: JSONShape? {
        guard let own = overrides?.shape, !(command is any StreamedCommand) else { return command.givenShape }
        return own
    }

    private var laterValidator: (@Sendable (Response) async throws -> Void)? {
        guard let own = overrides?.validator, group == nil, !(command is any StreamedCommand) else { return nil }
        return own
    }

    /// Takes the result of the last transfer to the verdict, in a task of the request. No more code of the command is
    /// called after the result is no longer needed.
    func process(
        _ result: TransferResult, by builder: RequestBuilder, _ interception: Interception?, _ stream: ResponseStream?,
        in step: WorkStep
    ) async -> Processed {
        let received = result
        var result = result
        if let interception {
            if step.isWanted { noteMiss(result) }
            switch await consult(interception, about: result, stream) {
            case .send(let asked, let call): return .replay(asked, call: call, interception)
            case .stands: break
            case .result(let ended): result = intercepted(ended, after: result, by: builder, interception, in: step)
            }
            interceptorsEnded(interception)
        }
        guard step.isWanted else { return .verdict(.failure(.cancelled)) }
        let verdict = await validate(judge(result, by: builder, in: step), in: step)
        guard step.isWanted else { return .verdict(.failure(.cancelled)) }
        // The response came from the cache; the network is asked next.
        if bypassesCache(verdict) { return .verdict(verdict) }
        switch verdict {
        case .success(let response):
            if let preprocess = command.givenSuccessPreprocessor, willPreprocess(in: step),
                let value = unreportedValue(in: step)
            {
                await preprocess(value, response)
            }
        case .failure(let error):
            // A validator or an interceptor may throw the shutdown of another client, which is a failure like any other.
            var preprocessor = command.givenFailurePreprocessor
            if case .failure(error) = received { preprocessor = failurePreprocessor(for: error) }
            if let preprocessor, willPreprocess(in: step) { await preprocessor(error) }
        }
        return .verdict(verdict)
    }

    /// Whether the run still needs its result. If so, no other preprocessor is called when `Timeouts.total` expires.
    private func willPreprocess(in step: WorkStep) -> Bool {
        core.withLock { core in
            guard core.machine.isWorking(step.number) else { return false }
            core.madeHooks().run.isPreprocessed = true
            return true
        }
    }

    /// Returns the result of a transfer from `next`, then waits for the next order of the interceptors.
    private func consult(
        _ interception: Interception, about result: TransferResult, _ stream: ResponseStream?
    ) async -> HeldResponse.Answer {
        if let stream { return await stream.consult(interception, about: result, at: url) }
        return HeldResponse.Answer(await interception.order(after: result, at: url))
    }

    /// The result of the interceptors after `received`. If a `transform` failed, the untransformed response is judged
    /// by its status: an error page is seldom encrypted.
    private func intercepted(
        _ result: TransferResult, after received: TransferResult, by builder: RequestBuilder,
        _ interception: Interception, in step: WorkStep
    ) -> TransferResult {
        switch (result, received) {
        case (.response(let answer), .failure(let error)):
            let read = answer.read(by: responseDecoder(by: builder))
            if step.isWanted { noteAnswer(read, after: error) }
            return .response(read)
        case (.failure(let error), .response(let response)):
            let codes = acceptedStatusCodes(builder)
            guard interception.isTransformFailed, !codes.contains(response.statusCode) else { return result }
            return .failure(statusNotAccepted(response, codes, underlying: error))
        case (.response(let response), .response):
            guard response.decoder == nil else { return result }
            return .response(response.read(by: responseDecoder(by: builder)))
        case (.failure, .failure):
            return result
        }
    }

    private func statusNotAccepted(
        _ response: Response, _ codes: StatusCodes, underlying: ErrandError? = nil
    ) -> ErrandError {
        codes.error(for: response.statusCode).with(response: response, underlying: underlying)
    }

    private func validate(_ verdict: Verdict, in step: WorkStep) async -> Verdict {
        guard case .success(let response) = verdict else { return verdict }
        do {
            if let validate = command.givenValidator, let value = unreportedValue(in: step) {
                try await validate(value, response)
            }
            if step.isWanted { try await laterValidator?(response) }
            return verdict
        } catch let error as ErrandError {
            return .failure(error.with(response: error.response ?? response, isRefusal: false))
        } catch {
            let message = "the validator rejected the response: \(error)"
            return .failure(.validationFailed.with(message: message, response: response, underlying: error))
        }
    }

    /// The stored value; `nil` if the result is no longer needed.
    private func unreportedValue(in step: WorkStep) -> C.Response? {
        core.withLock { $0.machine.isWorking(step.number) ? storedValue : nil }.flatMap { typed($0) }
    }
}
