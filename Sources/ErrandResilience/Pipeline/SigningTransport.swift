/// Puts a ``SigningTransport`` between a client and its engine, beneath all others.
struct SigningLayer: TransportLayer {
    let signer: any AttemptSigner

    var position: TransportLayerPosition { .signing }

    func makeTransport(over base: any Transport, of client: TransportLayerContext) -> any Transport {
        SigningTransport(base, signer)
    }
}

/// Signs each attempt to the origin of the run's first request. Ids are those of the transport beneath.
final class SigningTransport: StackedTransport, ShortIDTransport {
    let base: any Transport
    var idsAreShort: Bool { base.hasShortIDs }
    private let signer: any AttemptSigner

    init(_ base: any Transport, _ signer: any AttemptSigner) {
        self.base = base
        self.signer = signer
    }

    /// Whether attempts that are submitted to `transport` are signed.
    static func isBeneath(_ transport: any Transport) -> Bool {
        var present = transport
        while !(present is SigningTransport) {
            guard let stacked = present as? any StackedTransport else { return false }
            present = stacked.base
        }
        return true
    }

    func submit(
        _ description: RequestDescription, for receiver: TransferReceiver
    ) throws(ErrandError) -> TransferID {
        guard signer.signsOtherOrigins || !description.hasLeftOrigin else {
            return try base.submit(description, for: receiver)
        }
        var description = description
        description.headers = try signed(description)
        return try base.submit(description, for: receiver)
    }

    private func signed(_ description: RequestDescription) throws(ErrandError) -> HeaderBlock {
        // Without a trail a transfer has one attempt.
        var attempt = SignableAttempt(description, number: description.trail?.takeNumber() ?? 1)
        do {
            try signer.sign(&attempt)
        } catch let error as ErrandError {
            throw error.with(isRefusal: true, isOfSigner: true)
        } catch {
            throw ErrandError.interceptionFailed.with(
                message: "the signer of attempts failed: \(error)", underlying: error, isRefusal: true,
                isOfSigner: true)
        }
        return attempt.headers
    }

    // Orders go to the transport beneath, which has the same ids.

    func cancel(_ id: TransferID) { base.cancel(id) }
    func pause(_ id: TransferID) { base.pause(id) }
    func resume(_ id: TransferID) { base.resume(id) }
    func grant(_ id: TransferID, bytes: Int) { base.grant(id, bytes: bytes) }
    func write(_ bytes: UnsafeRawBufferPointer, to id: TransferID) { base.write(bytes, to: id) }
    func write(shared bytes: SharedBytes, to id: TransferID) { base.write(shared: bytes, to: id) }
    func finishUpload(_ id: TransferID) { base.finishUpload(id) }
    func failUpload(_ id: TransferID) { base.failUpload(id) }
    func restartUpload(_ id: TransferID, after attempt: Int) { base.restartUpload(id, after: attempt) }
    func filesMayHaveChanged() { base.filesMayHaveChanged() }
    func shutdown(_ stopped: @escaping @Sendable () -> Void) { base.shutdown(stopped) }
}
