import Errand

/// A transport of a test that streams nothing: the orders for streams have no effect. The contract has no defaults, so
/// that a transport for users cannot forget one.
protocol TransportWithoutStreams: Transport {}

extension TransportWithoutStreams {
    func grant(_ id: TransferID, bytes: Int) {}
    func write(_ bytes: UnsafeRawBufferPointer, to id: TransferID) {}
    func write(shared bytes: SharedBytes, to id: TransferID) {}
    func finishUpload(_ id: TransferID) {}
    func failUpload(_ id: TransferID) {}
    func restartUpload(_ id: TransferID, after attempt: Int) {}
    func filesMayHaveChanged() {}
}
