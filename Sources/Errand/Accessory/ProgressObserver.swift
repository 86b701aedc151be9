/// ``AnyRequest/onProgress(_:)`` as an accessory.
final class ProgressObserver: EventAccessory {
    private let observe: @Sendable (TransferProgress) -> Void

    init(_ observe: @escaping @Sendable (TransferProgress) -> Void) {
        self.observe = observe
    }

    func request(_ request: AnyRequest, did event: RequestEvent) {
        if case .progress(let progress) = event { observe(progress) }
    }
}
