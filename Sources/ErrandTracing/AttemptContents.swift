import Errand
import Tracing

/// The name and the attributes with which the span of an attempt begins. The attributes are made only if they are
/// needed, because most spans of a sampled program are not recorded.
struct AttemptContents {
    let name: String
    private let isKnown: Bool
    private let template: String?

    init(_ description: RequestDescription, _ template: URLTemplate?, _ tracing: ClientTracing) {
        let method = description.method.rawValue
        let isKnown = tracing.knows(method)
        self.isKnown = isKnown
        let shown = isKnown ? method : "HTTP"
        guard let template, let text = template.text(for: URLReference(description.url)) else {
            self.template = nil
            name = shown
            return
        }
        self.template = text
        name = shown + " " + text
    }

    /// `number`: the attempts of the run that were sent before.
    func attributes(of description: RequestDescription, number: Int, by tracing: ClientTracing) -> SpanAttributes {
        let options = tracing.options
        let url = URLReference(description.url)
        let place = ServerPlace(url)
        let method = description.method.rawValue
        var attributes: SpanAttributes = [:]
        attributes.reserveCapacity(8)
        attributes.set("http.request.method", value: .string(isKnown ? method : HTTPConventions.other))
        if !isKnown { attributes.set("http.request.method_original", value: .string(method)) }
        attributes.set("server.address", value: .string(place.address))
        attributes.set("server.port", value: .int64(Int64(place.port)))
        attributes.set("url.full", value: .string(tracing.shown(url)))
        attributes.set("url.template", value: template.map { .string($0) })
        if number > 0 { attributes.set("http.request.resend_count", value: .int64(Int64(number))) }
        if !options.requestHeaders.isEmpty {
            attributes.add(options.requestHeaders, of: description.headers.fields, "request", tracing.redaction)
        }
        guard options.includesDetails else { return attributes }
        attributes.set("url.scheme", value: .string((url.scheme ?? "").lowercased()))
        attributes.set("user_agent.original", value: description.headers[.userAgent].map { .string($0) })
        return attributes
    }
}

/// How an attempt has ended, for its span.
struct AttemptEnd {
    let errorType: String?
    /// `nil` if the status says everything. A fixed text, because the error's own text may quote a URL or a body.
    let message: String?
    private let response: Response?

    init(head: Response) {
        errorType = HTTPConventions.errorType(of: head)
        message = nil
        response = head
    }

    init(_ result: TransferResult) {
        errorType = HTTPConventions.errorType(of: result)
        response = result.response
        switch result {
        case .response: message = nil
        case .failure(let error): message = error.kindText
        }
    }

    func add(to attributes: inout SpanAttributes, by tracing: ClientTracing) {
        attributes.set("error.type", value: errorType.map { .string($0) })
        guard let response, let status = HTTPConventions.status(of: response) else { return }
        attributes.set("http.response.status_code", value: .int64(Int64(status)))
        if !tracing.options.responseHeaders.isEmpty {
            attributes.add(tracing.options.responseHeaders, of: response.headers, "response", tracing.redaction)
        }
    }
}

extension SpanAttributes {
    /// Adds the listed fields that are there, each as an array of its values.
    fileprivate mutating func add(
        _ names: [HTTPField.Name], of fields: HTTPFields, _ side: String, _ redaction: Redaction
    ) {
        for name in names {
            let values = fields[fields: name].map { redaction.value($0.value, ofHeader: name.canonicalName) }
            guard !values.isEmpty else { continue }
            set("http.\(side).header.\(name.canonicalName)", value: .stringArray(values))
        }
    }
}

extension ClientTracing {
    /// `url.full`: without credentials and without the values of secret parameters.
    func shown(_ url: URLReference) -> String {
        var url = url
        url.fragment = nil
        guard redaction.hidesCredentials else { return redaction.url(url.text) }
        guard let authority = url.authority, let mark = authority.lastIndex(of: "@") else {
            return redaction.url(url.text)
        }
        // The conventions hide user and password separately.
        url.authority = authority[authority.index(after: mark)...]
        var shown = URLReference(redaction.url(url.text))
        shown.authority = "\(Redaction.placeholder):\(Redaction.placeholder)@" + (shown.authority ?? "")
        return shown.text
    }
}
