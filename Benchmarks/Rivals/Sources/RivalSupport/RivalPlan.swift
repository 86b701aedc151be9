import ArgumentParser
package import Foundation

/// The settings of the command line, with the contents of its files.
package struct RivalPlan: Sendable {
    package let url: URL
    /// The URL as text.
    package let address: String
    package let method: String
    package let fields: [(name: String, value: String)]
    package let body: Data?
    package let connections: Int
    package let isHTTP2: Bool
    package let authorities: String?
    package let isTyped: Bool
    package let isRich: Bool
    let requests: Int
    let warmUp: Int
    let rate: Double?
    /// In nanoseconds.
    let tick: UInt64

    /// Throws where the arguments are not valid.
    package init(_ arguments: RivalArguments) throws {
        guard let url = URL(string: arguments.url), let host = url.host, !host.isEmpty,
            ["http", "https"].contains(url.scheme?.lowercased())
        else { throw ValidationError("'\(arguments.url)' is not an http or https URL") }
        self.url = url
        address = url.absoluteString
        var fields = try arguments.fields.map(RivalPlan.field)
        if arguments.isTyped { fields.append(("Content-Type", "application/json")) }
        self.fields = fields
        do {
            body = try arguments.bodyFile.map { try Data(contentsOf: URL(fileURLWithPath: $0)) }
        } catch {
            throw ValidationError("--body-file: \(error.localizedDescription)")
        }
        method = arguments.method ?? (body != nil || arguments.isTyped ? "POST" : "GET")
        connections = arguments.connections
        isHTTP2 = arguments.isHTTP2
        authorities = arguments.cacert
        isTyped = arguments.isTyped
        isRich = arguments.isRich
        requests = arguments.requests
        warmUp = arguments.warmUp
        rate = arguments.rate
        tick = arguments.tick * 1_000
    }

    private static func field(_ text: String) throws -> (name: String, value: String) {
        guard let colon = text.firstIndex(of: ":"), colon > text.startIndex else {
            throw ValidationError("-H '\(text)' is not 'Name: value'")
        }
        let value = text[text.index(after: colon)...]
        return (String(text[..<colon]), value.trimmingCharacters(in: .whitespaces))
    }
}
