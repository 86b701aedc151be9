import ArgumentParser

/// A number of bytes such as `4096`, `64k`, `10m`, `2g`; the units are powers of 1,024.
struct ByteCountArgument: ExpressibleByArgument, Hashable, Sendable {
    let bytes: Int

    init?(argument: String) {
        let units: [Character: Int] = ["k": 1 << 10, "m": 1 << 20, "g": 1 << 30]
        let factor = argument.lowercased().last.flatMap { units[$0] }
        let digits = factor == nil ? argument[...] : argument.dropLast()
        guard let value = Int(digits), value > 0, digits.first != "+" else { return nil }
        let (bytes, overflow) = value.multipliedReportingOverflow(by: factor ?? 1)
        guard !overflow else { return nil }
        self.bytes = bytes
    }
}
