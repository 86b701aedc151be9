import CoreMetrics
import Synchronization

/// Counts the users of the handlers of backends. A backend has one handler for each metric and label set, which several
/// objects may use: those of clients with the same name, of two clients of one server, or of a client and its
/// replacement. A handler is therefore destroyed when the last object that uses it releases it. Any thread.
private enum HandlerUses {
    /// The lock is held while a backend is called: otherwise a handler that another thread is about to destroy could be
    /// taken once more. Only code that makes or destroys instruments waits for the lock, and no request after the first
    /// of its kind.
    private static let counts = Mutex<[ObjectIdentifier: Int]>([:])

    /// `object`: the same handler as an object.
    static func take<Handler: Sendable>(_ make: () -> Handler, _ object: (Handler) -> AnyObject) -> Handler {
        counts.withLock { counts in
            let handler = make()
            counts[ObjectIdentifier(object(handler)), default: 0] += 1
            return handler
        }
    }

    /// `destroy`: called if nobody else uses the handler.
    static func release(_ handler: AnyObject, destroy: () -> Void) {
        counts.withLock { counts in
            let left = counts[ObjectIdentifier(handler), default: 1] - 1
            counts[ObjectIdentifier(handler)] = left > 0 ? left : nil
            if left <= 0 { destroy() }
        }
    }
}

/// A meter that its owner closes. Any thread.
struct HeldMeter: Sendable {
    let meter: Meter
    private let handler: any MeterHandler

    init(_ name: String, _ dimensions: [(String, String)], _ factory: any MetricsFactory) {
        let handler = HandlerUses.take({ factory.makeMeter(label: name, dimensions: dimensions) }, { $0 })
        self.handler = handler
        meter = Meter(label: name, dimensions: dimensions, handler: handler, factory: factory)
    }

    /// Sets the meter to 0 and destroys it, unless another object uses it. Called once; the meter is not used afterwards.
    func close() {
        HandlerUses.release(handler) {
            meter.set(0)
            meter.destroy()
        }
    }
}

/// A histogram that its owner closes. Any thread.
struct HeldRecorder: Sendable {
    let recorder: Recorder
    private let handler: any RecorderHandler

    init(_ name: String, _ dimensions: [(String, String)], _ factory: any MetricsFactory) {
        let handler = HandlerUses.take(
            { factory.makeRecorder(label: name, dimensions: dimensions, aggregate: true) }, { $0 })
        self.handler = handler
        recorder = Recorder(
            label: name, dimensions: dimensions, aggregate: true, handler: handler, factory: factory)
    }

    /// Releases the histogram. `destroys`: it is destroyed, unless another object uses it. Called once; the histogram
    /// is not used afterwards.
    func close(destroys: Bool) {
        HandlerUses.release(handler) {
            if destroys { recorder.destroy() }
        }
    }
}
