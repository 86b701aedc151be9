import Glibc

/// The test of Mann and Whitney: whether one of two samples tends to larger values. It assumes nothing about the
/// distribution (Mann and Whitney, "On a Test of Whether one of Two Random Variables is Stochastically Larger than the
/// Other", 1947).
enum RankTest {
    /// The probability of a difference like this or larger between samples of one distribution: two-sided, by the normal
    /// approximation with corrections for ties and continuity. `nil`: a sample has fewer than eight values, for which the
    /// approximation is not good.
    static func chance(_ first: [Double], _ second: [Double]) -> Double? {
        guard first.count >= LoadSample.fewestParts, second.count >= LoadSample.fewestParts else { return nil }
        let pool = (first.map { (value: $0, isFirst: true) } + second.map { (value: $0, isFirst: false) })
            .sorted { $0.value < $1.value }
        var rankSum = 0.0
        var ties = 0.0
        var start = 0
        while start < pool.count {
            var end = start + 1
            while end < pool.count, pool[end].value == pool[start].value { end += 1 }
            // Equal values share the mean of their ranks, which count from 1.
            let rank = Double(start + 1 + end) / 2
            rankSum += rank * Double(pool[start..<end].count { $0.isFirst })
            let size = Double(end - start)
            ties += size * size * size - size
            start = end
        }
        let (one, two, all) = (Double(first.count), Double(second.count), Double(pool.count))
        let difference = abs(rankSum - one * (one + 1) / 2 - one * two / 2)
        let variance = one * two / 12 * (all + 1 - ties / (all * (all - 1)))
        guard variance > 0 else { return 1 }
        return erfc(max(0, difference - 0.5) / (2 * variance).squareRoot())
    }
}
