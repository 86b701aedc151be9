/// Puts an ``EndpointTransport`` between a client and its engine.
struct EndpointLayer: TransportLayer {
    let endpoints: [ServiceEndpoints]
    var position: TransportLayerPosition { .endpoints }

    func makeTransport(over base: any Transport, of client: TransportLayerContext) -> any Transport {
        EndpointTransport(base, endpoints, stopwatch: client.stopwatch, connection: client.connection)
    }
}

extension Client.Configuration {
    /// The servers that requests to base URLs are distributed over; empty, the default: requests go to the URLs as they
    /// are. Read when a client is made.
    public var endpoints: [ServiceEndpoints] {
        get {
            layers.lazy.compactMap { ($0 as? EndpointLayer)?.endpoints }.first ?? []
        }
        set {
            layers.removeAll { $0 is EndpointLayer }
            if !newValue.isEmpty { layers.append(EndpointLayer(endpoints: newValue)) }
        }
    }
}

extension Client {
    /// The endpoints that stand for a base URL, with their health and counts; `nil`: there are none. The counts include
    /// the refreshes of the list and the failed refreshes. Any thread.
    public func endpoints(of baseURL: String) -> EndpointSet? {
        layer(EndpointTransport.self)?.groups[URLReference(baseURL).lookedUpOrigin]?.set
    }
}
