/// Which waiting request the engine starts first, where ``Client/Configuration/inFlightLimit`` or
/// ``Client/Configuration/originInFlightLimit`` makes requests wait (YTKNetwork `requestPriority`).
///
/// It holds over all requests of a client, whatever their hosts and connection options; equal ones start in the order in
/// which they came to one origin with one value of options, and in turns between those. A request still waits for the
/// limit of its own origin while lower ones go to others. A place that becomes free while a request is on its way to its
/// loop thread may go to another before it.
///
/// Those in flight share the network alike over HTTP/1, and by the weights 8, 16 and 32 of their streams over HTTP/2
/// (CURLOPT_STREAM_WEIGHT).
public enum Priority: Sendable, Hashable, CaseIterable {
    /// After all others.
    case low
    /// The default.
    case normal
    /// Before all others.
    case high
}
