import Errand

/// The ``Load`` of a client without any other product, or of one with retries and a circuit breaker, which nothing needs.
@main
enum Gates {
    private enum Mode: String, CaseIterable {
        case closures
        case async
        case taskEach = "task-each"
        case resilient
    }

    static func main() {
        Load.main("errand-gates", Mode.self) { mode, configuration in
            if mode == .resilient { configuration.resilience = .standard }
            switch mode {
            case .closures, .resilient: return .closures
            case .async: return .async
            case .taskEach: return .taskEach
            }
        }
    }
}
