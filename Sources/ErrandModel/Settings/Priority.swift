/// The order in which the engine starts waiting requests, when ``Client/Configuration/inFlightLimit`` or
/// ``Client/Configuration/originInFlightLimit`` makes requests wait (YTKNetwork `requestPriority`).
///
/// The priority applies to all requests of a client, whatever their hosts and connection options. Requests of equal
/// priority to one origin with equal options start in the order of submission; the engine takes turns between origins
/// and option values. A request still waits for the limit of its own origin while requests of lower priority go to
/// other origins. A slot that becomes free while a request is on its way to its loop thread may go to another request
/// first.
///
/// Requests in flight share the network equally over HTTP/1, and by stream weights of 8, 16 and 32 over HTTP/2
/// (CURLOPT_STREAM_WEIGHT).
public enum Priority: Sendable, Hashable, CaseIterable {
    /// After all others.
    case low
    /// The default.
    case normal
    /// Before all others.
    case high
}
