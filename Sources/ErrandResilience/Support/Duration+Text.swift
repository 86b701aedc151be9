extension Duration {
    /// The time for a message, rounded up to whole milliseconds: `4.724 seconds`.
    var secondsText: String {
        let (seconds, attoseconds) = components
        let perMillisecond: Int64 = 1_000_000_000_000_000
        let milliseconds = (attoseconds + perMillisecond - 1) / perMillisecond
        return "\((Double(seconds) * 1000 + Double(milliseconds)) / 1000) seconds"
    }
}
