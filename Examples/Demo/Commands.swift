import Errand

struct User: Codable, Sendable, Equatable {
    var id: Int
    var name: String
}

struct GetUser: Command {
    var id: Int
    var path: String { "users/\(id)" }
    typealias Response = User
}

struct NewUser: Encodable, Sendable {
    var name: String
}

struct AddUser: Command {
    var user: NewUser
    var method: HTTPRequest.Method { .post }
    var path: String { "users" }
    var body: RequestBody { .json(user) }
    typealias Response = User
}

struct Order: Codable, Sendable, Equatable {
    var item: String
    var state: String
}

struct ListOrders: Command {
    var user: Int
    var path: String { "orders/\(user)" }
    typealias Response = [Order]
}

struct Track: Command {
    var item: String
    var path: String { "tracking/\(item)" }
    typealias Response = String
}

struct Hello: Command {
    var path: String { "hello" }
    typealias Response = String
}

/// A response that may be up to a minute old.
struct GetPrices: Command {
    var path: String { "prices" }
    var cache: CachePolicy? { .timed(.seconds(60), version: 1) }
    typealias Response = [String: Int]
}

/// The server's response headers set the freshness lifetime and the validator.
struct GetNews: Command {
    var path: String { "news.txt" }
    var cache: CachePolicy? { .http }
    typealias Response = String
}

/// 16 MB at 64 kB per second, which is slow enough to stop the download in the middle.
struct SlowFile: Command {
    var path: String { "slow.bin" }
}

struct Broken: Command {
    var path: String { "broken" }
    typealias Response = User
}

struct NobodyThere: Command {
    /// Nothing listens on port 1 of loopback.
    var path: String { "http://127.0.0.1:1/" }
}
