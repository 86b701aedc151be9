extension Client.Configuration {
    /// The settings that the client's engine is started with.
    var engine: ReactorSettings {
        var engine = ReactorSettings()
        engine.cookies = cookies
        engine.loops = loops
        engine.queueCapacity = queueCapacity
        engine.inFlightLimit = inFlightLimit
        engine.originInFlightLimit = originInFlightLimit
        engine.connection = settings.connection
        return engine
    }
}

extension ReactorTransport {
    /// Makes the engine that a configuration describes. `pause` has the meaning of ``OptionsCache``'s `pause`.
    convenience init(_ configuration: Client.Configuration, pause: Int = OptionsCache.pause) {
        self.init(configuration.engine, pause: pause)
    }
}
