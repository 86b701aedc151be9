/// A streamed response that was accepted by its head, and that interceptors get from `next` before the caller sees it.
///
/// They get it as soon as the part that they look at is known. For a success that is the head. For any other status it is
/// the whole body if it is small and arrives soon, or the part that has arrived.
struct HeldResponse {
    /// What the interceptors have made of a result.
    enum Answer: Sendable {
        /// The request is to be sent again, as that call of `next`.
        case send(RequestDescription, call: Int)
        /// The caller gets the response, with the body of the stream.
        case stands
        /// This result replaces it.
        case result(TransferResult)

        /// The answer if the result is not a head that is held.
        init(_ order: Interception.Order) {
            switch order {
            case .send(let description, let call): self = .send(description, call: call)
            case .ended(let result):
                // Its stream was cancelled, so its body would be missing.
                if case .response(let response) = result, case .streamedHead = response.mark {
                    self = .result(.failure(InterceptionMisuse.cancelledStream.error(response)))
                } else {
                    self = .result(result)
                }
            }
        }
    }

    enum Question {
        /// The interceptors were not asked, and no timer runs for it.
        case unasked
        /// The interceptors are asked when the timer ends, or earlier.
        case timed(Task<Void, Never>)
        case asked(Task<Answer, Never>)
        /// The transfer ended before the interceptors were asked. The run asks them, as for any other response.
        case leftToTheEnd

        /// Whether the interceptors may still be asked.
        var isOpen: Bool {
            switch self {
            case .unasked, .timed: true
            case .asked, .leftToTheEnd: false
            }
        }

        func cancel() {
            switch self {
            case .timed(let timer): timer.cancel()
            case .asked(let task): task.cancel()
            case .unasked, .leftToTheEnd: break
            }
        }
    }

    /// A body of this size and more is not small: a quarter of the engine's default credit.
    static let small = 65536
    /// How long a small body may take: errors with more than a status usually arrive in one piece.
    static let patience = Duration.seconds(1)

    /// The head that the caller gets, with the changes of the interceptors.
    var head: Response
    let number: Int
    let interception: Interception
    var question = Question.unasked
    /// The response that the interceptors got.
    var given: Response?
    /// Whether the transfer has ended.
    var isEnded = false
    /// Whether the transfer was ended because of the answer.
    var isCut = false
    /// Whether the interceptors have answered with a response of their own.
    var isReplaced = false

    /// Whether the interceptors are asked with the head alone. A body after 101 is that of another protocol.
    var isAskedAtOnce: Bool { (200...299).contains(head.statusCode) || head.statusCode == 101 }

    /// The response for the interceptors. `end`: what the end of the transfer added, if it has ended.
    mutating func give(_ body: [UInt8], by end: Response? = nil) -> Response {
        let response = head.assembled(body, by: end, attachment: ResponseMark.streamedHead(number))
            .read(by: head.decoder)
        given = response
        return response
    }

    /// Processes the interceptors' order.
    mutating func answered(_ order: Interception.Order) -> Answer {
        guard case .ended(.response(let response)) = order else { return Answer(order) }
        guard response.mark == .streamedHead(number), let given else {
            isReplaced = true
            return Answer(order)
        }
        if response.isSame(as: given) { return .stands }
        guard response.body.count == given.body.count, response.body.bytes == given.body.bytes else {
            return .result(.failure(InterceptionMisuse.changedStream.error(given)))
        }
        head = response.assembled([]).read(by: response.decoder)
        return .stands
    }
}

extension Response {
    /// The complete response of a stream: its head, the kept part of its body, and what the end of its transfer added,
    /// if anything.
    package func assembled(
        _ body: [UInt8], by end: Response? = nil, attachment: (any Sendable)? = nil
    ) -> Response {
        var total = end?.metrics ?? metrics
        total.remoteAddress = total.remoteAddress ?? metrics.remoteAddress
        total.localAddress = total.localAddress ?? metrics.localAddress
        return Response(
            statusCode: statusCode, head: rawHead, body: body, metrics: total, trailers: end?.rawTrailers ?? [],
            attachment: attachment)
    }
}
