import Errand
import HTTPTypes

/// A request and its response, for the requests that refer to them.
struct HTTPExchange: Sendable {
    let headers: HTTPFields
    /// `nil`: the body was sent from a file and not kept.
    let body: [UInt8]?
    /// `nil`: there was no response.
    var response: Response?

    /// Returns the value of a reference. The message of ``Missing`` shows no value.
    func value(_ reference: ExchangeReference) throws(Missing) -> String {
        if reference.side == .response, response == nil { throw Missing("'\(reference.name)' has no response") }
        let whose = "the \(reference.side.rawValue) of '\(reference.name)'"
        switch reference.part {
        case .header(let name):
            let fields = reference.side == .request ? headers : response?.headers ?? HTTPFields()
            guard let field = fields.first(where: { $0.name.canonicalName == name.lowercased() }) else {
                throw Missing("\(whose) has no header '\(name)'")
            }
            return field.value
        case .body:
            do {
                if reference.side == .response, let response { return try response.text() }
                guard let text = String(validating: try bytes(reference), as: UTF8.self) else {
                    throw Missing("the body of \(whose) is not text")
                }
                return text
            } catch let missing as Missing {
                throw missing
            } catch {
                throw Missing("the body of \(whose) is not text")
            }
        case .json(let path):
            let json: JSONText
            let bytes = try bytes(reference)
            do {
                json = try JSONText(bytes)
            } catch {
                throw Missing("the body of \(whose) is not JSON")
            }
            guard let text = json.text(at: path) else {
                throw Missing("the body of \(whose) has no '\(path.source)'")
            }
            return text
        }
    }

    private func bytes(_ reference: ExchangeReference) throws(Missing) -> [UInt8] {
        if reference.side == .response { return response?.body.bytes ?? [] }
        guard let body else {
            throw Missing("the body of the request of '\(reference.name)' is a file, which is not kept in memory")
        }
        return body
    }

    struct Missing: Error {
        let message: String

        init(_ message: String) {
            self.message = message
        }
    }
}
