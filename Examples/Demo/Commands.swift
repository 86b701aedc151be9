import Errand
import HTTPTypes

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

/// What may be a minute old.
struct GetPrices: Command {
    var path: String { "prices" }
    var cache: CachePolicy? { .timed(.seconds(60), version: 1) }
    typealias Response = [String: Int]
}

/// Its server says for how long it may be used, and what it is told from others by.
struct GetNews: Command {
    var path: String { "news.txt" }
    var cache: CachePolicy? { .http }
    typealias Response = String
}

/// 16 MB at 64 kB a second: long enough to be stopped.
struct SlowFile: Command {
    var path: String { "slow.bin" }
}

struct Broken: Command {
    var path: String { "broken" }
    typealias Response = User
}

struct NobodyThere: Command {
    /// Port 1 of loopback: nothing listens there.
    var path: String { "http://127.0.0.1:1/" }
}
