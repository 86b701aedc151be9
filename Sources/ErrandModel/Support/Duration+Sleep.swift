extension Duration {
    /// Clocks trap on the way to what is much later than this, some 68 years from now.
    package static var longestSleep: Duration { .seconds(1 << 31) }
}
