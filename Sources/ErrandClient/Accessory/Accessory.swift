/// Watches requests: a loading indicator, a log, a counter. The calls are strictly balanced: for each
/// `requestWillStart` there is exactly one `requestWillStop` and one `requestDidStop`, however the request ends.
///
/// An accessory is kept strongly: by the client, or by a request until the end of the run that it was added for
/// (YTKNetwork `YTKRequestAccessory`).
public protocol Accessory: AnyObject, Sendable {
    /// The queue on which this accessory is called. An own queue keeps the order of the calls, and a slow accessory
    /// then delays nothing else; its calls may arrive after the request has moved on. The property is read for each
    /// call and must always return the same queue. Default: `nil`, the threads that the methods name. There every other
    /// callback of the client waits for the accessory.
    var callbackQueue: CallbackQueue? { get }
    /// The request is about to start; nothing was sent yet. Called on the thread that starts the request.
    func requestWillStart(_ request: AnyRequest)
    /// The outcome is about to be reported. Called on the callback queue.
    func requestWillStop(_ request: AnyRequest)
    /// The outcome was reported. Called on the callback queue.
    func requestDidStop(_ request: AnyRequest)
}

extension Accessory {
    /// The default: no queue of its own.
    public var callbackQueue: CallbackQueue? { nil }
    /// The default does nothing.
    public func requestWillStart(_ request: AnyRequest) {}
    /// The default does nothing.
    public func requestWillStop(_ request: AnyRequest) {}
    /// The default does nothing.
    public func requestDidStop(_ request: AnyRequest) {}
}

/// An accessory that also observes events between start and end. Requests without such an accessory pay nothing for
/// events.
public protocol EventAccessory: Accessory {
    /// Called on the callback queue, between `requestWillStart` and `requestWillStop`, in the order of events. An error
    /// thrown here is ignored: an accessory watches a request and does not decide its outcome.
    func request(_ request: AnyRequest, did event: RequestEvent) throws
}

/// Gets the end of a request, before the request's closures. Called on the callback queue. For a stopped request,
/// `requestFailed` is called only with ``Client/Configuration/reportsStops``. A request keeps its delegate weakly
/// (YTKNetwork `YTKRequestDelegate`).
public protocol RequestDelegate: AnyObject, Sendable {
    /// The request has succeeded and has a value.
    func requestFinished(_ request: AnyRequest)
    /// The request has failed and has an error.
    func requestFailed(_ request: AnyRequest)
}

extension RequestDelegate {
    /// The default does nothing.
    public func requestFinished(_ request: AnyRequest) {}
    /// The default does nothing.
    public func requestFailed(_ request: AnyRequest) {}
}
