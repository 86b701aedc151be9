import Errand
import HTTPTypes
import RivalSupport

/// A value that knows how its request ended.
protocol Counted: Sendable {
    var outcome: RequestEnd { get }
}

extension Response: Counted {
    var outcome: RequestEnd { .answered(status: statusCode, bytes: body.count) }
}

extension Item: Counted {
    var outcome: RequestEnd { .answered(status: 200, bytes: 0) }
}

extension String: Counted {
    var outcome: RequestEnd { .answered(status: 200, bytes: utf8.count) }
}

struct PlainCommand: Command {
    typealias Response = Errand.Response
    let method: HTTPRequest.Method
    let path: String
    let body: RequestBody
}

struct PostItem: Command {
    typealias Response = Item
    let path: String
    var method: HTTPRequest.Method { .post }
    var body: RequestBody { .json(Item.sample) }
}

/// A command as in a real service: its own fields and deadlines, and a text made from the response.
struct RichCommand: Command {
    typealias Response = String
    let path: String

    var headers: HTTPFields {
        var fields = HTTPFields()
        for (name, value) in Self.fields { fields.append(HTTPField(name: name, value: value)) }
        return fields
    }

    var timeouts: Timeouts? {
        Timeouts(
            connect: .seconds(RichRequest.connectSeconds), firstByte: .seconds(RichRequest.firstByteSeconds),
            idle: .seconds(RichRequest.idleSeconds), total: .seconds(RichRequest.totalSeconds))
    }

    private static let fields = RichRequest.fields.compactMap { field in
        HTTPField.Name(field.name).map { ($0, field.value) }
    }
}

/// The same observer and log line as in the rivals.
final class RichObserver: Accessory {
    private let plan: RivalPlan

    init(_ plan: RivalPlan) {
        self.plan = plan
    }

    func requestWillStart(_ request: AnyRequest) {
        RichRequest.begin()
    }

    func requestDidStop(_ request: AnyRequest) {
        let response = request.response
        RichRequest.end(
            plan.method, plan.address, status: response?.statusCode ?? 0, bytes: response?.body.count ?? 0)
    }

    func requestWillStop(_ request: AnyRequest) {}
}
