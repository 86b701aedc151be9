extension Client {
    /// The cookies of the client; `nil` if ``Configuration/cookies`` is off or the transport is not the engine.
    public var cookies: CookieJar? {
        (transport as? ReactorTransport)?.cookies
    }
}
