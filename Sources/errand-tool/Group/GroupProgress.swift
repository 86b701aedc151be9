import Synchronization

/// One line on the terminal: the number of requests that have ended.
final class GroupProgress: Sendable {
    private struct Counts {
        var ended = 0
        var failed = 0
    }

    private let count: Int
    private let isShown: Bool
    private let counts = Mutex(Counts())

    /// The delay before the bar is drawn; runs that end earlier show no bar.
    private static let delay = Duration.milliseconds(700)
    private static let interval = Duration.milliseconds(200)

    init(count: Int, isShown: Bool) {
        self.count = count
        self.isShown = isShown && StandardError.isTerminal
    }

    func ended(failed: Bool) {
        counts.withLock { counts in
            counts.ended += 1
            if failed { counts.failed += 1 }
        }
    }

    /// Draws until cancelled, then clears the line.
    func draw() async {
        guard isShown else { return }
        // Both sleeps throw when the task is cancelled, which ends the drawing.
        guard (try? await Task.sleep(for: GroupProgress.delay)) != nil else { return }
        repeat {
            let counts = counts.withLock { $0 }
            StandardError.write(
                "\r\u{1B}[K" + GroupProgress.line(ended: counts.ended, failed: counts.failed, count: count))
        } while (try? await Task.sleep(for: GroupProgress.interval)) != nil
        StandardError.write("\r\u{1B}[K")
    }

    static func line(ended: Int, failed: Int, count: Int) -> String {
        let width = 30
        let filled = count > 0 ? min(width, ended * width / count) : width
        let bar = String(repeating: "#", count: filled) + String(repeating: ".", count: width - filled)
        let line = "[\(bar)] \(ended.grouped) of \(count.grouped) done"
        return failed > 0 ? line + ", \(failed.grouped) failed" : line
    }
}
