/// A streamed response that its head has accepted, and that interceptors are to be asked about before the caller sees it.
///
/// They are asked as soon as it is known what there is to be looked at: a success is its head; of any other status that
/// is the whole body where it is small and comes soon, or what came of it.
struct HeldResponse {
    /// Whether the request is to be sent again.
    typealias Answer = Result<Bool, ErrandError>

    enum Question {
        /// Nobody was asked, nor is a time set for it.
        case unasked
        /// Asked when that ends, at the latest.
        case timed(Task<Void, Never>)
        case asked(Task<Answer, Never>)
        /// The transfer ended before anybody was asked: the run asks, as of any response.
        case leftToTheEnd

        /// Whether it may still be asked.
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

    /// From here on a body is not small: a quarter of the credit that the engine has by default.
    static let small = 65536
    /// How long a small body may take: errors that say more than their status come in one piece.
    static let patience = Duration.seconds(1)

    let head: Response
    let chain: InterceptorChain
    var question = Question.unasked
    /// The transfer has ended.
    var isEnded = false
    /// The transfer was ended because of the answer.
    var isCut = false

    var isSuccess: Bool { (200...299).contains(head.statusCode) }

    /// What the run asks at the transfer's end: with the answer, where there was a question. `transform` is not for
    /// bodies that are streamed.
    var remaining: InterceptorChain {
        var chain = chain
        if case .asked(let task) = question { chain.answer = task }
        chain.transforms = false
        return chain
    }
}
