public import Errand

extension ClientTracing {
    /// Which requests have a span of their own around the spans of their attempts.
    public enum RequestSpans: Sendable, Hashable, CaseIterable {
        /// Groups, and requests that the settings allow to be sent more than once: all requests of a client whose
        /// `resilience` has retries or hedges, and requests whose command replaces parts of it. Not requests with
        /// ``/Errand/RequestResilience/off``. Redirects and replays are not known in advance, so they do not count. The
        /// spans of such attempts have the parent of the first attempt, which cannot get another parent afterwards, and
        /// each links to the attempt before it. With ``always`` there is one span around them.
        case automatic
        /// All requests and groups.
        case always
        /// None. The children of a group have the parent of the group.
        case never
    }

    /// Which requests carry the context, in header fields such as `traceparent` and `baggage`.
    public enum Propagation: Sendable, Hashable {
        /// All, whatever their hosts. The values of the baggage then go to every service that the client calls.
        case all
        /// Requests to these hosts, without a port. Upper and lower case are the same. For a service whose endpoints
        /// have their own names, the host is that of the endpoint.
        case hosts(Set<String>)
        /// None.
        case none
    }

    /// What the spans of a ``ClientTracing`` contain. A value: any thread.
    public struct Options: Sendable, Hashable {
        /// Which requests have a span of kind `internal`, named by the command's type; ``RequestSpans/automatic`` by
        /// default.
        public var requestSpans: RequestSpans
        /// The secrets that `url.full` and header fields do not show. ``/Errand/Redaction/standard`` by default, the same
        /// list as for logs. ``ClientTracing/signatureParameters`` are always hidden.
        public var redaction: Redaction
        /// The methods that `http.request.method` may have; any other is `_OTHER`, and `http.request.method_original` has
        /// its name. By default those of RFC 9110, PATCH and QUERY, or those that the environment variable
        /// `OTEL_INSTRUMENTATION_HTTP_KNOWN_METHODS` lists, separated by commas.
        public var knownMethods: Set<String>
        /// Header fields of requests to show as `http.request.header.<name>`; none by default.
        public var requestHeaders: [HTTPField.Name]
        /// Header fields of responses to show as `http.response.header.<name>`; none by default.
        public var responseHeaders: [HTTPField.Name]
        /// Whether the template of a command that has one is in the span's name and in `url.template`. True by default.
        public var includesURLTemplate: Bool
        /// Whether the opt-in attributes `url.scheme`, `user_agent.original`, `http.request.body.size` and
        /// `http.response.body.size` are set. False by default.
        public var includesDetails: Bool
        /// Whether the phases of an attempt are events of its span, with their times: `errand.admitted`,
        /// `errand.resolved`, `errand.connected`, `errand.secured`, `errand.sent`, `errand.first_byte`. True by default.
        public var recordsPhases: Bool
        /// Which requests the context is injected into; ``Propagation/all`` by default. If a redirect or an interceptor
        /// has led a request to another origin, the request carries no baggage, because the caller has not chosen that
        /// service.
        public var propagation: Propagation

        /// Makes options; an argument that is left out has the default above.
        public init(
            requestSpans: RequestSpans = .automatic, redaction: Redaction = .standard,
            knownMethods: Set<String>? = nil, requestHeaders: [HTTPField.Name] = [],
            responseHeaders: [HTTPField.Name] = [], includesURLTemplate: Bool = true, includesDetails: Bool = false,
            recordsPhases: Bool = true, propagation: Propagation = .all
        ) {
            self.requestSpans = requestSpans
            self.redaction = redaction
            self.knownMethods = knownMethods ?? HTTPConventions.knownMethods
            self.requestHeaders = requestHeaders
            self.responseHeaders = responseHeaders
            self.includesURLTemplate = includesURLTemplate
            self.includesDetails = includesDetails
            self.recordsPhases = recordsPhases
            self.propagation = propagation
        }
    }
}

extension ClientTracing.Propagation {
    /// Whether the context goes to the host of a URL.
    func includes(_ url: String) -> Bool {
        switch self {
        case .all: return true
        case .none: return false
        case .hosts(let hosts):
            let address = ServerPlace(URLReference(url)).address
            return hosts.contains { $0.lowercased() == address }
        }
    }
}
