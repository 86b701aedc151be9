/// Refuses every transfer with one error: the engine of a client that cannot have the engine that it asks for.
final class RefusingTransport: Transport {
    private let error: ErrandError

    init(_ error: ErrandError) {
        self.error = error
    }

    func submit(_ description: RequestDescription, for receiver: TransferReceiver) throws(ErrandError) -> TransferID {
        throw error
    }

    func shutdown(_ stopped: @escaping @Sendable () -> Void) { stopped() }

    // There are no transfers, and therefore no orders for them.

    func cancel(_ id: TransferID) {}
    func pause(_ id: TransferID) {}
    func resume(_ id: TransferID) {}
    func grant(_ id: TransferID, bytes: Int) {}
    func write(_ bytes: UnsafeRawBufferPointer, to id: TransferID) {}
    func write(shared bytes: SharedBytes, to id: TransferID) {}
    func finishUpload(_ id: TransferID) {}
    func failUpload(_ id: TransferID) {}
    func restartUpload(_ id: TransferID, after attempt: Int) {}
    func filesMayHaveChanged() {}
}
