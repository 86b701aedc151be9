import CoreMetrics

/// Makes the handles of metrics, with the labels that the options ask for. Any thread.
struct MetricMaker: Sendable {
    let options: ClientMetrics.Options
    let factory: any MetricsFactory

    func counter(_ name: String, _ labels: [(String, String)]) -> Counter {
        Counter(label: name, dimensions: shown(labels), factory: factory)
    }

    /// A counter of seconds.
    func seconds(_ name: String, _ labels: [(String, String)]) -> FloatingPointCounter {
        FloatingPointCounter(label: name, dimensions: shown(labels), factory: factory)
    }

    func meter(_ name: String, _ labels: [(String, String)]) -> HeldMeter {
        HeldMeter(name, shown(labels), factory)
    }

    /// A histogram.
    func recorder(_ name: String) -> Recorder {
        Recorder(label: name, dimensions: [], aggregate: true, factory: factory)
    }

    /// A histogram of a server, which may be destroyed when the server is not called any more.
    func heldRecorder(_ name: String, _ labels: [(String, String)]) -> HeldRecorder {
        HeldRecorder(name, shown(labels), factory)
    }

    private func shown(_ labels: [(String, String)]) -> [(String, String)] {
        options.omitsEmptyLabels ? labels.filter { !$0.1.isEmpty } : labels
    }

    /// The labels of metrics that a client has once, such as those of its engine. Clients with different names have
    /// different series; clients with the same name overwrite each other's meters. Clients of one engine have its series
    /// one after the other: see ``MeasuredEngine``.
    func ofClient(_ labels: [(String, String)] = []) -> [(String, String)] {
        [("errand.client.name", options.clientName)] + labels
    }
}
