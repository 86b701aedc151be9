import Errand

/// The labels of an attempt that are known when it begins. An empty text: no value.
struct ServerLabels: Hashable, Sendable {
    let method: String
    let address: String
    let port: String
    let scheme: String
    let template: String

    /// `template`: the template, if it applies to the URL.
    init(_ description: RequestDescription, template: String?, _ options: ClientMetrics.Options) {
        let url = URLReference(description.url)
        let place = ServerPlace(url)
        let name = description.method.rawValue
        self.init(
            method: options.knownMethods.contains(name) ? name : HTTPConventions.other, address: place.address,
            port: String(place.port), scheme: options.includesScheme ? (url.scheme ?? "").lowercased() : "",
            template: options.includesURLTemplate ? template ?? "" : "")
    }

    private init(method: String, address: String, port: String, scheme: String, template: String) {
        self.method = method
        self.address = address
        self.port = port
        self.scheme = scheme
        self.template = template
    }

    /// The labels that are used if there are more label sets than are allowed.
    var overflow: ServerLabels {
        ServerLabels(
            method: method, address: HTTPConventions.other, port: "", scheme: scheme,
            template: template.isEmpty ? "" : HTTPConventions.other)
    }

    func dimensions(_ options: ClientMetrics.Options) -> [(String, String)] {
        var all = [("http.request.method", method), ("server.address", address), ("server.port", port)]
        if options.includesScheme { all.append(("url.scheme", scheme)) }
        if options.includesURLTemplate { all.append(("url.template", template)) }
        return all
    }
}
