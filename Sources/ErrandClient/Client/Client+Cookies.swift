extension Client {
    /// The cookies of the client; `nil` where ``Configuration/cookies`` is off, or the transport is not the engine.
    public var cookies: CookieJar? {
        (transport as? ReactorTransport)?.cookies
    }
}
