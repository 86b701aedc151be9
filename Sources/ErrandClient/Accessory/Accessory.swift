/// Watches requests: a loading indicator, a log, a counter. The calls are strictly balanced: for each
/// `requestWillStart` there is exactly one `requestWillStop` and one `requestDidStop`, however the request ends.
///
/// No method has a default, so that a method with a misspelt name or another signature is a compiler error and not an
/// accessory that is never called. A method that has nothing to do is empty.
///
/// An accessory is kept strongly: by the client, or by a request until the end of the run that it was added for
/// (YTKNetwork `YTKRequestAccessory`).
public protocol Accessory: AnyObject, Sendable {
    /// The queue on which this accessory is called. A separate queue keeps the order of the calls, and a slow accessory
    /// then delays nothing else. Its calls may arrive after the request has moved on. Neither the end of a request nor the
    /// client's shutdown waits for the queue. A block that is passed to ``CallbackQueue/async(_:)`` after the shutdown
    /// runs after all calls of the accessory. The property is read for each call and must always return the same queue.
    /// Its type is `CallbackQueue` or `CallbackQueue?`; any other type is a compiler error, which names
    /// `givenCallbackQueue`. Default: `nil`, the threads that the methods name. On these, every other callback of the
    /// client waits for the accessory.
    var callbackQueue: CallbackQueueMember { get }
    /// The request is about to start; nothing was sent yet. Called on the thread that starts the request.
    func requestWillStart(_ request: AnyRequest)
    /// The outcome is about to be reported. Called on the callback queue.
    func requestWillStop(_ request: AnyRequest)
    /// The outcome was reported. Called on the callback queue.
    func requestDidStop(_ request: AnyRequest)

    /// The type of ``callbackQueue``; the compiler infers it, do not declare it. As for the members of ``Command``.
    @_documentation(visibility: internal)
    associatedtype CallbackQueueMember = CallbackQueue?
    /// ``callbackQueue`` in the type that the engine reads; do not implement it.
    @_documentation(visibility: internal)
    var givenCallbackQueue: CallbackQueue? { get }
}

extension Accessory where CallbackQueueMember == CallbackQueue? {
    /// The default: no queue of its own.
    public var callbackQueue: CallbackQueue? { nil }
    /// Returns `callbackQueue` unchanged.
    public var givenCallbackQueue: CallbackQueue? { callbackQueue }
}

extension Accessory where CallbackQueueMember == CallbackQueue {
    /// Returns `callbackQueue` unchanged.
    public var givenCallbackQueue: CallbackQueue? { callbackQueue }
}

/// An accessory that also observes events between start and end. Requests without such an accessory pay nothing for
/// events.
public protocol EventAccessory: Accessory {
    /// Called on the callback queue, between `requestWillStart` and `requestWillStop`, in the order of events. An error
    /// thrown here is ignored: an accessory watches a request and does not decide its outcome.
    func request(_ request: AnyRequest, did event: RequestEvent) throws
}

/// Gets the end of a request, before the request's closures. Called on the callback queue. For a stopped request,
/// `requestFailed` is called only with ``Client/Configuration/reportsStops``. A request keeps its delegate weakly.
/// Neither method has a default, for the reason that ``Accessory`` gives (YTKNetwork `YTKRequestDelegate`).
public protocol RequestDelegate: AnyObject, Sendable {
    /// The request has succeeded and has a value.
    func requestFinished(_ request: AnyRequest)
    /// The request has failed and has an error.
    func requestFailed(_ request: AnyRequest)
}
