import Dispatch
import Errand
import ErrandTesting
import Foundation
import HTTPTypes

/// What a program's hash seed may not change.
extension CacheProbe {
    private struct Send: Command {
        var name: String
        var body: RequestBody
        var parameters: Parameters?
        var parameterEncoding = ParameterEncoding.automatic
        var method: HTTPRequest.Method { .post }
        var path: String { name }
        var cache: CachePolicy? { .timed(.seconds(60)) }
        typealias Response = String
    }

    private struct Order: Codable {
        var amounts: [String: Int]
        var names: [Int: [String: String]]
        var user = "ada"
        var street = "Main"
        var city = "Ely"
    }

    /// More members than two processes put into the same order by luck: one of 12! orders.
    private static let amounts = Dictionary(uniqueKeysWithValues: (0..<12).map { ("name \($0)", $0) })

    private static var commands: [Send] {
        let order = Order(amounts: amounts, names: [1: ["a": "b", "c": "d", "e": "f"], 2: [:], 3: ["g": "h"]])
        let pretty = JSONEncoder()
        pretty.outputFormatting = .prettyPrinted
        pretty.keyEncodingStrategy = .convertToSnakeCase
        let values = Parameters(amounts.mapValues { ParameterValue.int(Int64($0)) })
        let bodies: [(String, RequestBody)] = [
            ("json", .json(order)), ("pretty", .json(order, encoder: pretty)), ("gzip", .json(order).gzipped()),
            ("plist", .propertyList(order)),
            ("multipart", .multipart([.string("x", name: "a"), .string("y", name: "b")])),
            ("gzip-multipart", .multipart([.string("x", name: "a")]).gzipped()),
        ]
        let encodings: [(String, ParameterEncoding)] = [("query", .query), ("fields", .form), ("object", .json)]
        return bodies.map { Send(name: $0.0, body: $0.1) }
            + encodings.map { Send(name: $0.0, body: .empty, parameters: values, parameterEncoding: $0.1) }
    }

    static func tellKeys() {
        let done = DispatchSemaphore(value: 0)
        Task {
            let client = Client(
                configuration: Client.Configuration(baseURL: "http://test/"),
                transport: StubTransport { _ in .response(status: 200) })
            do {
                for command in commands {
                    print(command.name, try await client.cacheKey(for: command)?.digest ?? "none")
                }
            } catch {
                print("met \(error)")
            }
            await client.shutdown(.cancel)
            done.signal()
        }
        done.wait()
    }
}
