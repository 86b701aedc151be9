/// Checks that every variable is defined, and that every reference names a request that will have ended before it is
/// used.
struct HTTPFileCheck {
    private let chosen: [HTTPFileRequest]
    private let maker: HTTPRequestMaker
    private let order: HTTPFilePlan.Order
    private var references: HTTPReferences
    /// By name: the index of the request among the chosen ones; `nil`: the request is not chosen.
    private var numbers: [String: Int?] = [:]

    init(all: [HTTPFileRequest], chosen: [HTTPFileRequest], maker: HTTPRequestMaker, order: HTTPFilePlan.Order) {
        self.chosen = chosen
        self.maker = maker
        self.order = order
        references = HTTPReferences(maker.variables)
        for case let name? in all.map(\.name) { numbers.updateValue(nil, forKey: name) }
        for (number, request) in chosen.enumerated() {
            if let name = request.name { numbers.updateValue(number, forKey: name) }
        }
    }

    func run() throws {
        var check = self
        for (number, request) in chosen.enumerated() { try check.run(request, number) }
    }

    private mutating func run(_ request: HTTPFileRequest, _ number: Int) throws {
        try run(request.url, number)
        for field in request.fields { try run(field.value, number) }
        for case let value? in request.options.expectations.map(\.value) { try run(value, number) }
        let body = HTTPBodyMaker(variables: maker.variables, folder: maker.folder, contentType: nil)
        for line in request.body {
            switch line {
            case .bytes:
                break
            case .text(let template), .exact(let template):
                try run(template, number)
            case .file(let file):
                // A path that depends on a response is not known yet.
                guard try run(file.path, number) == 0, let (template, path) = try body.template(file) else { continue }
                do {
                    try run(template, number)
                } catch {
                    throw error.inFile(path)
                }
            }
        }
    }

    /// Returns: the number of references.
    @discardableResult
    private mutating func run(_ template: HTTPTemplate, _ number: Int) throws(HTTPFileError) -> Int {
        let found = try references.of(template)
        for (reference, position) in found {
            guard let place = numbers[reference.name] else {
                throw HTTPFileError(position, "no request is named '\(reference.name)'")
            }
            let refers = "the variable refers to the \(reference.side.rawValue) of '\(reference.name)', "
            switch order {
            case .sequential: break
            case .together:
                throw HTTPFileError(
                    position,
                    refers + "but a batch has no order; 'errand chain' runs requests one after another")
            case .mixed:
                throw HTTPFileError(
                    position,
                    refers + "but a file with '@weight' has no order: one request is sent at a time, by its weight")
            }
            guard let place else {
                throw HTTPFileError(position, "the variable refers to '\(reference.name)', which --only excludes")
            }
            guard place < number else {
                throw HTTPFileError(
                    position, "the variable refers to '\(reference.name)', which is not an earlier request")
            }
        }
        return found.count
    }
}
