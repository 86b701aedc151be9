import Errand
import ErrandTesting
import ErrandTracing
import InMemoryTracing
import Testing
import Tracing

/// The attributes of spans, compared with OpenTelemetry's model and with the documents.
@Suite(.timeLimit(.minutes(20))) struct SpanConventionsTests {
    /// Those of the model that this client does not set.
    private static let unused: Set<String> = [
        "http.request.size", "http.response.size", "network.protocol.name", "network.transport",
        "user_agent.synthetic.type",
    ]
    private let conventions: Conventions

    init() throws {
        conventions = try Conventions.read()
    }

    private static func response(to description: RequestDescription) -> Response {
        var transfer = TransferMetrics()
        transfer.resolved = .milliseconds(1)
        transfer.connected = .milliseconds(2)
        transfer.secured = .milliseconds(3)
        transfer.sent = .milliseconds(4)
        transfer.firstByte = .milliseconds(5)
        transfer.total = .milliseconds(6)
        transfer.bytesReceived = 4
        transfer.httpVersion = "1.1"
        transfer.remoteAddress = "127.0.0.1:80"
        let status = description.url.hasSuffix("404") ? 404 : description.url.hasSuffix("moved") ? 302 : 200
        return Response(
            statusCode: status, headers: [.server: "s", .location: "/found"], body: Array("text".utf8),
            metrics: transfer)
    }

    /// The ended spans of a client with all options: answers, failures, a redirect, an unknown method.
    private func spans() async throws -> [FinishedInMemorySpan] {
        let stub = StubTransport { description in
            description.url.hasSuffix("late") ? .failure(.timeoutIdle) : .response(Self.response(to: description))
        }
        let options = ClientTracing.Options(
            requestSpans: .always, requestHeaders: [.accept], responseHeaders: [.server], includesDetails: true)
        let traced = TracedClient(stub, options)
        for path in ["404", "late", "moved"] { _ = await traced.client.result(of: GetText(path: path)) }
        _ = try await traced.client.run(GetUser())
        _ = try await traced.client.run(RawCommand(method: "PURGE", url: "x", headers: []))
        _ = try await traced.client.run(RawCommand(url: "x", headers: [.accept: "a/b"]))
        await traced.finish()
        return traced.tracer.finishedSpans
    }

    /// By name.
    private func attributes(of span: FinishedInMemorySpan) -> [String: SpanAttribute] {
        var found: [String: SpanAttribute] = [:]
        span.attributes.forEach { found[$0] = $1 }
        return found
    }

    private func typeName(of value: SpanAttribute) -> String {
        switch value {
        case .string: "string"
        case .int64: "int"
        case .stringArray: "string[]"
        default: "\(value)"
        }
    }

    @Test func attributesOfAttemptsAreThoseOfTheModel() async throws {
        let model = try #require(conventions.spans["http.client"])
        #expect(model.kind == "client" && model.stability == "stable")
        let required = model.attributes.filter { $0.value == "required" }.keys
        var used: Set<String> = []
        let attempts = try await spans().filter { $0.kind == .client }
        #expect(attempts.count == 7)
        for span in attempts {
            let found = attributes(of: span)
            #expect(required.allSatisfy { found[$0] != nil }, "\(found)")
            for (name, value) in found {
                let inModel = try #require(conventions.modelName(of: name), "\(name)")
                used.insert(inModel)
                let attribute = try #require(conventions.attributes[inModel])
                #expect([typeName(of: value), "template[\(typeName(of: value))]"].contains(attribute.type), "\(name)")
                // The values of `error.type` are the program's own, as the conventions have it.
                if case .string(let text) = value, let values = attribute.values, name != "error.type" {
                    #expect(values.contains(text), "\(name)=\(text)")
                }
            }
        }
        #expect(used == Set(model.attributes.keys).subtracting(Self.unused))
    }

    @Test func otherNamesHaveOurPrefix() async throws {
        for span in try await spans() {
            #expect(span.events.allSatisfy { $0.name.hasPrefix("errand.") })
            guard span.kind == .internal else { continue }
            for name in attributes(of: span).keys {
                #expect(name.hasPrefix("errand.") || conventions.modelName(of: name) != nil, "\(name)")
            }
        }
    }

    @Test func theDocumentHasAllNames() async throws {
        let document = try Conventions.document("Sources/ErrandTracing/ErrandTracing.docc/ErrandTracing.md")
        var used: Set<String> = []
        for span in try await spans() {
            used.formUnion(attributes(of: span).keys.map { conventions.modelName(of: $0) ?? $0 })
            for event in span.events { #expect(document.contains("`\(event.name)`"), "\(event.name)") }
        }
        for name in used {
            let isTemplate = conventions.attributes[name]?.type.hasPrefix("template[") ?? false
            #expect(document.contains(isTemplate ? "`\(name).<name>`" : "`\(name)`"), "\(name)")
        }
        #expect(
            Conventions.names(with: "in development", in: document)
                == used.filter { conventions.attributes[$0]?.stability == "development" })
    }
}
