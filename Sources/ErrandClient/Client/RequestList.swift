/// The running requests of a client: a list linked through the requests themselves, so that a request needs no extra
/// memory for it. Used under the client's lock.
struct RequestList: ~Copyable {
    /// A request's place in the list. Unmanaged: the list holds one reference to each member, and a member's neighbours
    /// are members too.
    struct Links {
        fileprivate var next: Unmanaged<AnyRequest>?
        fileprivate var previous: Unmanaged<AnyRequest>?
        /// Runs that have begun and not ended. Briefly two, when a run starts in the callback of another run.
        fileprivate var runs = 0
    }

    private var first: Unmanaged<AnyRequest>?

    /// Adds the request, and holds a reference to it until it is removed.
    mutating func add(_ request: AnyRequest) {
        request.inList.runs += 1
        guard request.inList.runs == 1 else { return }
        let member = Unmanaged.passRetained(request)
        request.inList.next = first
        first?.takeUnretainedValue().inList.previous = member
        first = member
    }

    /// Notes the end of a run. If it was the last run, removes the request and returns the list's reference, which the
    /// caller releases after dropping the lock.
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

    /// The members, newest first.
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
