/// What runs on a client: a list through the requests themselves, so that keeping it costs a request no memory of its
/// own. Used under the client's lock.
struct RequestList: ~Copyable {
    /// A request's place in the list. Unmanaged: the list holds one reference to each member, and neighbours are members.
    struct Links {
        fileprivate var next: Unmanaged<AnyRequest>?
        fileprivate var previous: Unmanaged<AnyRequest>?
        /// Runs that have begun and not ended: two for a moment, where a run is started in the callback of another.
        fileprivate var runs = 0
    }

    private var first: Unmanaged<AnyRequest>?

    /// Holds the request until it is removed.
    mutating func add(_ request: AnyRequest) {
        request.inList.runs += 1
        guard request.inList.runs == 1 else { return }
        let member = Unmanaged.passRetained(request)
        request.inList.next = first
        first?.takeUnretainedValue().inList.previous = member
        first = member
    }

    /// A run has ended. Answers the list's reference, to be released after the lock is dropped, where it was the last.
    mutating func remove(_ request: AnyRequest) -> Unmanaged<AnyRequest>? {
        let links = request.inList
        request.inList.runs -= 1
        guard links.runs == 1 else { return nil }
        request.inList = Links()
        links.next?.takeUnretainedValue().inList.previous = links.previous
        if let previous = links.previous {
            previous.takeUnretainedValue().inList.next = links.next
        } else {
            first = links.next
        }
        return Unmanaged.passUnretained(request)
    }

    /// Newest first.
    var all: [AnyRequest] {
        var requests: [AnyRequest] = []
        var member = first
        while let present = member {
            let request = present.takeUnretainedValue()
            requests.append(request)
            member = request.inList.next
        }
        return requests
    }
}
