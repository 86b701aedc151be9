import Errand
import ErrandTesting

/// What a closure of the storm does when it is called.
enum StormReaction: Sendable {
    case nothing
    /// So many times, one inside of the other.
    case restart(times: Int)
    case stop
    case restartAndStop
    case pauseAndResume

    init(_ random: inout StormRandom) {
        switch random.below(20) {
        case 0...2: self = .restart(times: 1 + random.below(2))
        case 3: self = .stop
        case 4: self = .restartAndStop
        case 5: self = .pauseAndResume
        default: self = .nothing
        }
    }

    /// On the callback queue.
    func act(on request: Request<StormCommand>, of subject: StormSubject) {
        switch self {
        case .nothing:
            break
        case .restart(let times):
            subject.start(request, then: times > 1 ? .restart(times: times - 1) : .nothing)
        case .stop:
            subject.stopOnQueue(request)
        case .restartAndStop:
            subject.start(request, then: .nothing)
            subject.stopOnQueue(request)
        case .pauseAndResume:
            subject.start(request, then: .nothing)
            request.pause()
            request.resume()
        }
    }
}
