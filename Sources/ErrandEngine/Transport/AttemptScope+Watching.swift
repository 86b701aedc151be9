/// The scope of a plain request watches its attempt itself. This way there is neither an object for the attempt nor a
/// receiver between the transport and the request.
extension AttemptScope: TransferWatcher {
    package func transferReported(_ event: TransferEvent.Kind, to receiver: TransferReceiver) {
        switch event {
        case .head(let head): watchedHeadArrived(head)
        case .ended(let result):
            _ = receiver.watchEnds()
            watchedAttemptEnded(result)
        case .resending: watchedAttemptRepeated()
        case .chunk, .uploadCredit, .started, .connected, .sent, .progress, .retrying, .notResent, .decided: break
        }
        receiver.receive(event)
    }
}
