/// A streamed response that was accepted by its head, and that interceptors are asked about before the caller sees it.
///
/// They are asked as soon as the part that they look at is known. For a success that is the head. For any other status
/// it is the whole body if it is small and arrives soon, or the part that has arrived.
struct HeldResponse {
    /// Whether the request is to be sent again.
    typealias Answer = Result<Bool, ErrandError>

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

    let head: Response
    let chain: InterceptorChain
    var question = Question.unasked
    /// Whether the transfer has ended.
    var isEnded = false
    /// Whether the transfer was ended because of the answer.
    var isCut = false

    var isSuccess: Bool { (200...299).contains(head.statusCode) }

    /// The interceptors for the transfer's end, with the answer if they were asked already. `transform` is not called
    /// for streamed bodies.
    var remaining: InterceptorChain {
        var chain = chain
        if case .asked(let task) = question { chain.answer = task }
        chain.transforms = false
        return chain
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
