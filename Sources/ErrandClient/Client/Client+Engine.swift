extension Client.Configuration {
    /// What the engine of the client is started with.
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
    /// The engine that a configuration describes; `pause`: as ``OptionsCache``'s.
    convenience init(_ configuration: Client.Configuration, pause: Int = OptionsCache.pause) {
        self.init(configuration.engine, pause: pause)
    }
}
