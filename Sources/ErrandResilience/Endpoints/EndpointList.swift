/// Endpoints with different URLs, and the ring of their hashes if the policy has one. Making the ring takes long, so
/// the shell makes the list outside of its lock.
struct EndpointList: Sendable {
    let endpoints: [Endpoint]
    let ring: HashRing?

    /// If several endpoints have the same URL, the first one counts.
    init(_ endpoints: [Endpoint], _ policy: EndpointPolicy) {
        var seen: Set<String> = []
        let different = endpoints.filter { seen.insert($0.url).inserted }
        self.endpoints = different
        if case .ringHash(let settings) = policy.balancing {
            ring = HashRing(different.map { ($0.url, $0.weight) }, size: settings.size)
        } else {
            ring = nil
        }
    }
}
