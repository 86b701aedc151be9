import ErrandTesting

/// What a storm picks by.
typealias StormRandom = SeededGenerator

extension SeededGenerator {
    mutating func below(_ limit: Int) -> Int {
        Int.random(in: 0..<limit, using: &self)
    }

    mutating func oneIn(_ count: Int) -> Bool {
        below(count) == 0
    }

    mutating func pick<Choices: CaseIterable>(_: Choices.Type) -> Choices where Choices.AllCases == [Choices] {
        Choices.allCases[below(Choices.allCases.count)]
    }
}
