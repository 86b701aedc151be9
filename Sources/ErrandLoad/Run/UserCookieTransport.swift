import Errand
import HTTPTypes

/// Puts a user's jar between the user's client and the engine.
struct UserCookieLayer: TransportLayer {
    let jar: UserCookieJar

    var position: TransportLayerPosition { .wire }

    func makeTransport(over base: any Transport, of client: TransportLayerContext) -> any Transport {
        UserCookieTransport(base, jar)
    }
}

/// Adds the cookies of a user to each attempt, and stores what the responses set. It sees each hop of a redirect, as the
/// client follows redirects itself. Like an engine's jar it does not touch requests that have
/// ``/Errand/CommandOptions/withoutCookies`` or a `Cookie` field. Ids are those of the transport beneath.
final class UserCookieTransport: StackedTransport, ShortIDTransport {
    let base: any Transport
    var idsAreShort: Bool { base.hasShortIDs }
    private let jar: UserCookieJar

    init(_ base: any Transport, _ jar: UserCookieJar) {
        self.base = base
        self.jar = jar
    }

    func submit(
        _ description: RequestDescription, for receiver: TransferReceiver
    ) throws(ErrandError) -> TransferID {
        guard !description.options.contains(.withoutCookies), description.headers[.cookie] == nil else {
            return try base.submit(description, for: receiver)
        }
        let receiver = UserCookieReceiver(receiver, jar, url: description.url)
        guard let value = jar.field(for: description.url) else { return try base.submit(description, for: receiver) }
        var description = description
        try description.headers.set(.cookie, to: value)
        return try base.submit(description, for: receiver)
    }

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

/// Stores the cookies of a response before its receiver gets it.
///
/// `@unchecked Sendable`: what this class adds is constant and itself safe to share.
private final class UserCookieReceiver: TransferReceiver, @unchecked Sendable {
    private let receiver: TransferReceiver
    private let jar: UserCookieJar
    private let url: String

    init(_ receiver: TransferReceiver, _ jar: UserCookieJar, url: String) {
        self.receiver = receiver
        self.jar = jar
        self.url = url
        super.init(callbacks: receiver.callbacks)
    }

    override func receive(_ event: TransferEvent.Kind) {
        switch event {
        case .head(let head): jar.store(head, from: url)
        case .ended(.response(let response)): jar.store(response, from: url)
        case .ended(.failure(let error)):
            if let response = error.response { jar.store(response, from: url) }
        case .chunk, .uploadCredit, .started, .connected, .sent, .progress, .retrying, .resending, .notResent, .decided:
            break
        }
        receiver.accept(event)
    }

    override func joined(sentAt time: Int64?) { receiver.joined(sentAt: time) }
}
