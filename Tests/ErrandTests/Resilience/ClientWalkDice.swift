import ErrandTesting
import Synchronization

/// Random numbers that threads share: the same sequence for the same seed.
final class ClientWalkDice: Sendable {
    private let generator: Mutex<SeededGenerator>

    /// `purpose` separates the dice of one walk, so that the threads of one do not disturb the sequence of another.
    init(seed: Int, purpose: Int) {
        generator = Mutex(SeededGenerator(seed: UInt64(seed) &* 7919 &+ UInt64(purpose) &* 104_729 &+ 1))
    }

    /// 0 where the bound is below 1.
    func below(_ bound: Int) -> Int { generator.withLock { Int.random(in: 0..<max(bound, 1), using: &$0) } }

    func isOneIn(_ bound: Int) -> Bool { below(bound) == 0 }

    /// `nil`: there is none.
    func pick<Element>(_ elements: [Element]) -> Element? {
        elements.isEmpty ? nil : elements[below(elements.count)]
    }
}
