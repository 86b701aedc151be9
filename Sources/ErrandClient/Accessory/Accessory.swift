/// Watches requests: a loading indicator, a log, a counter. Strictly balanced: whoever is told that a request will
/// start is told that it will stop and that it did, once each, whatever becomes of it.
///
/// Kept strongly, by the client, or by a request until the run is over that it was added for (YTKNetwork `YTKRequestAccessory`).
public protocol Accessory: AnyObject, Sendable {
    /// Where this accessory is told: a queue of its own, in order, so that taking its time delays nobody; it then hears of
    /// things that may have gone on. Read for each call; has to be the same always. Default: `nil`, the threads that the
    /// methods name, where every other callback of the client waits for it.
    var callbackQueue: CallbackQueue? { get }
    /// Before anything is sent. On the thread that starts the request.
    func requestWillStart(_ request: AnyRequest)
    /// The outcome is about to be told. On the callback queue.
    func requestWillStop(_ request: AnyRequest)
    /// The outcome was told. On the callback queue.
    func requestDidStop(_ request: AnyRequest)
}

extension Accessory {
    /// None of its own.
    public var callbackQueue: CallbackQueue? { nil }
    /// Does nothing.
    public func requestWillStart(_ request: AnyRequest) {}
    /// Does nothing.
    public func requestWillStop(_ request: AnyRequest) {}
    /// Does nothing.
    public func requestDidStop(_ request: AnyRequest) {}
}

/// An accessory that is also told what happens in between. Requests that no such accessory watches pay nothing for it.
public protocol EventAccessory: Accessory {
    /// On the callback queue, between `requestWillStart` and `requestWillStop`, in the order of events. What is thrown
    /// here is dropped: an accessory watches, it does not decide.
    func request(_ request: AnyRequest, did event: RequestEvent) throws
}

/// Told how a request ended, before its closures are. On the callback queue; of a request that was stopped only with
/// ``Client/Configuration/reportsStops``, by `requestFailed`. Kept weakly (YTKNetwork `YTKRequestDelegate`).
public protocol RequestDelegate: AnyObject, Sendable {
    /// The request has a value.
    func requestFinished(_ request: AnyRequest)
    /// The request has an error.
    func requestFailed(_ request: AnyRequest)
}

extension RequestDelegate {
    /// Does nothing.
    public func requestFinished(_ request: AnyRequest) {}
    /// Does nothing.
    public func requestFailed(_ request: AnyRequest) {}
}
