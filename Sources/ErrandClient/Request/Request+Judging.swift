import Synchronization

extension Request {
    enum Processed {
        case verdict(Verdict)
        case replay
    }

    /// A body of so many bytes is not decoded on the callback queue, where others wait: 64 KiB of JSON take the time of
    /// a hundred small responses. A command of the default `Response` and no shape is taken to decode nothing.
    private static var largeBody: Int { 65536 }

    /// Whether judging takes code that may wait, or long.
    func mayWait(_ result: TransferResult) -> Bool {
        if command.givenFailurePreprocessor != nil { return true }
        guard case .response(let response) = result else { return false }
        if command.givenValidator != nil || command.givenSuccessPreprocessor != nil || laterValidator != nil {
            return true
        }
        guard response.body.count >= Self.largeBody else { return false }
        return C.Response.self != ErrandModel.Response.self || shape != nil
    }

    /// Status, content type, decoding, shape: the first that fails decides. RFC 9110 has a status tell what the body
    /// is about, so a 404 with a page in HTML is a 404 and no wrong content type.
    ///
    /// An accepted value is kept, unless it is judged `in` a step that nobody waits for any more.
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

    /// What the command makes of a response that is a success.
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
            let message = "the last step has no value that is a \(C.Response.self)"
            throw .invalidArgument.with(message: message, response: response, isRefusal: false)
        }
        return keep(value, response, in: step)
    }

    /// After a stop a new run may have begun, which this value is none of.
    private func keep(_ value: C.Response, _ response: Response, in step: WorkStep?) -> Verdict {
        let isKept = core.withLock { core in
            if let step, !core.machine.isWorking(step.number) { return false }
            // There is none in its place: a run begins without one, and goes past a cache's without it.
            storedValue = value
            hasUntoldValue = true
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

    // A streamed response's body is its reader's.
    private var shape: JSONShape? {
        guard let own = overrides?.shape, !(command is any StreamedCommand) else { return command.givenShape }
        return own
    }

    private var laterValidator: (@Sendable (Response) async throws -> Void)? {
        guard let own = overrides?.validator, group == nil, !(command is any StreamedCommand) else { return nil }
        return own
    }

    /// The whole way from the end of the last transfer to the verdict, in a task of the request's own. Nothing more of the
    /// command's is called once nobody waits for it.
    func process(
        _ result: TransferResult, by builder: RequestBuilder, _ chain: InterceptorChain?, in step: WorkStep
    ) async -> Processed {
        var result = result
        if let chain {
            switch await chain.replays(after: result, in: step) {
            case .success(true): return .replay
            case .success(false): result = await transformed(result, by: builder, chain, in: step)
            case .failure(let error): result = .failure(error)
            }
        }
        guard step.isWanted else { return .verdict(.failure(.cancelled)) }
        let verdict = await validate(judge(result, by: builder, in: step), in: step)
        guard step.isWanted else { return .verdict(.failure(.cancelled)) }
        // The network's word is still to come.
        if goesPastCache(verdict) { return .verdict(verdict) }
        switch verdict {
        case .success(let response):
            if let preprocess = command.givenSuccessPreprocessor, willPreprocess(in: step),
                let value = untoldValue(in: step)
            {
                await preprocess(value, response)
            }
        case .failure(let error):
            if let preprocess = command.givenFailurePreprocessor, willPreprocess(in: step) { await preprocess(error) }
        }
        return .verdict(verdict)
    }

    /// Whether the run is still waited for; the end by `Timeouts.total` then calls no preprocessor beside this one.
    private func willPreprocess(in step: WorkStep) -> Bool {
        core.withLock { core in
            guard core.machine.isWorking(step.number) else { return false }
            core.madeHooks().run.isPreprocessed = true
            return true
        }
    }

    /// What cannot be transformed is judged by its status all the same: an error's page is seldom encrypted.
    private func transformed(
        _ result: TransferResult, by builder: RequestBuilder, _ chain: InterceptorChain, in step: WorkStep
    ) async -> TransferResult {
        let transformed = await chain.transform(result, in: step)
        guard case .response(let received) = result, case .failure(let error) = transformed else { return transformed }
        let codes = acceptedStatusCodes(builder)
        guard !codes.contains(received.statusCode) else { return transformed }
        return .failure(statusNotAccepted(received, codes, underlying: error))
    }

    private func statusNotAccepted(
        _ response: Response, _ codes: StatusCodes, underlying: ErrandError? = nil
    ) -> ErrandError {
        let message = "the status is \(response.statusCode), expected \(codes)"
        return .statusNotAccepted.with(message: message, response: response, underlying: underlying)
    }

    private func validate(_ verdict: Verdict, in step: WorkStep) async -> Verdict {
        guard case .success(let response) = verdict else { return verdict }
        do {
            if let validate = command.givenValidator, let value = untoldValue(in: step) {
                try await validate(value, response)
            }
            if step.isWanted { try await laterValidator?(response) }
            return verdict
        } catch let error as ErrandError {
            return .failure(error.with(response: error.response ?? response, isRefusal: false))
        } catch {
            let message = "the response was not accepted by its validator: \(error)"
            return .failure(.validationFailed.with(message: message, response: response, underlying: error))
        }
    }

    /// `nil` where nobody waits for it any more.
    private func untoldValue(in step: WorkStep) -> C.Response? {
        core.withLock { $0.machine.isWorking(step.number) ? storedValue : nil }.flatMap { typed($0) }
    }
}
