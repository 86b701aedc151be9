extension Duration {
    /// The longest sleep, about 68 years. Clocks trap when they compute a much later time.
    package static var longestSleep: Duration { .seconds(1 << 31) }
}
