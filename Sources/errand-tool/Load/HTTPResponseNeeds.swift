/// The parts of each response that other requests of the file refer to. A load test keeps no more than these.
struct HTTPResponseNeeds {
    enum Part: Sendable {
        case head
        case body
    }

    /// By the name of the request. If a name has no entry, nothing refers to its request.
    private(set) var needs: [String: Part] = [:]
    /// For each request, whether it refers to no other one, so that it can be made before any request is sent.
    private(set) var isIndependent: [Bool] = []

    init(_ requests: [HTTPFileRequest], _ variables: HTTPVariables) throws {
        var references = HTTPReferences(variables)
        for request in requests {
            var refers = false
            var templates = [request.url] + request.fields.map(\.value)
            templates += request.options.expectations.compactMap(\.value)
            for line in request.body {
                switch line {
                case .text(let template), .exact(let template): templates.append(template)
                case .file(let file):
                    templates.append(file.path)
                    // The file is read when the request is made, and may then refer to anything.
                    if file.encoding != nil { refers = true }
                    if file.encoding != nil { for case let name? in requests.map(\.name) { needs[name] = .body } }
                case .bytes: break
                }
            }
            do {
                for template in templates {
                    for (reference, _) in try references.of(template) {
                        refers = true
                        add(reference)
                    }
                }
            } catch {
                throw ToolError(error.inFile(variables.path))
            }
            isIndependent.append(!refers)
        }
    }

    private mutating func add(_ reference: ExchangeReference) {
        var part = Part.head
        switch reference.part {
        case .header: break
        case .body, .json: if reference.side == .response { part = .body }
        }
        if needs[reference.name] != .body { needs[reference.name] = part }
    }
}
