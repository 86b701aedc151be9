import Errand
import ErrandTesting
import Foundation
import HTTPTypes
import Testing

@testable import ErrandClient
@testable import ErrandModel

/// The cache over the network: nginx gives validators, times and variants.
@Suite(.timeLimit(.minutes(20))) struct CachingRunTests {
    private struct Fetch: Command {
        var path: String
        var cache: CachePolicy?
        var method = HTTPRequest.Method.get
        var headers = HTTPFields()
        var body = RequestBody.empty
        typealias Response = Errand.Response
    }

    private func finished(_ client: Client, _ command: Fetch) async -> Request<Fetch> {
        await withCheckedContinuation { continuation in
            client.start(command, completion: { continuation.resume(returning: $0) })
        }
    }

    @Test func aFileIsConfirmedByItsTag() async throws {
        try await Client.with(try Nginx.client()) { client async throws in
            let first = await finished(client, Fetch(path: "1k", cache: .http))
            #expect(first.response?.header(.eTag) != nil)
            #expect(first.response?.cacheStatus == "errand; fwd=uri-miss; stored")
            // What the request says counts: nginx sends no time.
            let asked = await finished(client, Fetch(path: "1k", cache: .http, headers: [.cacheControl: "no-cache"]))
            #expect(asked.response?.statusCode == 200)
            #expect(asked.response?.body.bytes == first.response?.body.bytes)
            #expect(asked.response?.cacheStatus?.contains("fwd-status=304") == true)
            #expect(asked.isFromCache == false)
            #expect(asked.metrics?.bytesReceived ?? 0 < 1024)
        }
    }

    @Test func timeVariantsAndCredentials() async throws {
        try await Client.with(try Nginx.client()) { client async throws in
            let fresh = await finished(client, Fetch(path: "cached/day", cache: .http))
            #expect(await finished(client, Fetch(path: "cached/day", cache: .http)).isFromCache)
            #expect(fresh.response?.header(.cacheControl) == "max-age=86400")
            for language in ["de", "fr", "de"] {
                let fetch = Fetch(path: "cached/vary", cache: .http, headers: [.acceptLanguage: language])
                #expect(try await finished(client, fetch).response?.text() == "\(language)\n")
            }
            let repeated = Fetch(path: "cached/vary", cache: .http, headers: [.acceptLanguage: "fr"])
            #expect(await finished(client, repeated).isFromCache)
            let never = Fetch(path: "cached/no-store", cache: .http)
            _ = await finished(client, never)
            #expect(await finished(client, never).isFromCache == false)
        }
    }

    @Test func aPutMakesVoidWhatWasStored() async throws {
        try await Client.with(try Nginx.client()) { client async throws in
            let path = "cached/dav/\(UUID().uuidString)"
            for text in ["one", "two"] {
                _ = await finished(client, Fetch(path: path, method: .put, body: .string(text)))
                for isSecond in [false, true] {
                    let got = await finished(client, Fetch(path: path, cache: .http))
                    #expect(try got.response?.text() == text)
                    #expect(got.isFromCache == isSecond)
                }
            }
        }
    }

    @Test func compressedBodiesAreStoredAsTheyAreRead() async throws {
        try await Client.with(try Nginx.client { $0.connection.encodings = .all }) { client async throws in
            let fetch = Fetch(path: "gzip/64k", cache: .timed(.seconds(86_400)))
            let first = await finished(client, fetch)
            let second = await finished(client, fetch)
            #expect(first.response?.body.count == 65536)
            #expect(second.response?.body.bytes == first.response?.body.bytes)
            #expect(second.isFromCache)
        }
    }

    /// A hit needs no server.
    @Test func theServerMayBeGone() async throws {
        let server = try ScriptedServer()
        try server.on("/", [.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nhi"), .close])
        try server.on("/", [.reset])
        try await Client.with(Client(configuration: .patient(baseURL: server.url("/")))) { client async throws in
            let policy = CachePolicy.timed(.seconds(1000), reading: .networkElseCache)
            #expect(try await finished(client, Fetch(path: "", cache: policy)).response?.text() == "hi")
            let away = await finished(client, Fetch(path: "", cache: policy))
            #expect(try away.response?.text() == "hi")
            #expect(away.isFromCache)
        }
    }
}
