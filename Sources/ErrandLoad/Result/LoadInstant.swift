import FoundationEssentials

/// Times as whole nanoseconds, as they are in the JSON of a result.
enum LoadInstant {
    /// From 1970 to Foundation's reference date.
    private static let referenceSeconds: Int64 = 978_307_200
    private static let perSecond: Int64 = 1_000_000_000

    /// Since 1970. Exact for present-day dates, because a `Date` has steps of about 100 ns there; clamped to the years
    /// 1677 to 2262.
    static func unixNanoseconds(_ date: Date) -> Int64 {
        let seconds = date.timeIntervalSinceReferenceDate
        // Fractions of a large number have few digits. The parts are converted separately, so that no digit is lost.
        let whole = seconds.rounded(.down)
        guard let since1970 = Int64(exactly: whole)?.addingReportingOverflow(referenceSeconds).partialValue,
            (-9_000_000_000...9_000_000_000).contains(since1970)
        else { return seconds < 0 ? -9_000_000_000 * perSecond : 9_000_000_000 * perSecond }
        return since1970 * perSecond + Int64(((seconds - whole) * 1e9).rounded())
    }

    static func date(unixNanoseconds: Int64) -> Date {
        let (seconds, rest) = unixNanoseconds.quotientAndRemainder(dividingBy: perSecond)
        return Date(timeIntervalSinceReferenceDate: Double(seconds - referenceSeconds) + Double(rest) / 1e9)
    }

    /// Clamped to about 292 years.
    static func nanoseconds(_ duration: Duration) -> Int64 {
        let (seconds, attoseconds) = duration.components
        let (product, isTooLarge) = seconds.multipliedReportingOverflow(by: perSecond)
        let (sum, isSumTooLarge) = product.addingReportingOverflow(attoseconds / perSecond)
        if isTooLarge || isSumTooLarge { return seconds < 0 ? .min : .max }
        return sum
    }
}
