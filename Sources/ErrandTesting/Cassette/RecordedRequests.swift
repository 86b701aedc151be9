import Errand

/// The exchanges of a cassette's file, indexed by the compared parts of their requests, and which of them are used. A
/// request is compared only with the exchanges that have the same head, so that a long cassette is not searched for
/// each request. The owner holds a lock.
struct RecordedRequests: Sendable {
    /// A request that is looked up.
    struct Question: Sendable {
        let sent: HAR.Sent
        let head: [String]
        let bodies: [RequestMatching.BodyKey]

        init(_ sent: HAR.Sent, by matching: RequestMatching) {
            self.sent = sent
            head = matching.head(of: sent)
            bodies = matching.keys(ofSent: sent.body)
        }
    }

    /// The indices of exchanges, in order.
    private struct Places: Sendable {
        var all: [Int] = []
        /// The places before this one are used.
        var next = 0

        /// The first unused place.
        mutating func first(unusedIn isUsed: [Bool]) -> Int? {
            while next < all.count, isUsed[all[next]] { next += 1 }
            return next < all.count ? all[next] : nil
        }
    }

    /// Exchanges whose requests differ only in their bodies.
    private struct Group: Sendable {
        var places = Places()
        var bodies: [RequestMatching.BodyKey: Places] = [:]
        /// The exchanges of which only the beginning of the body is known.
        var beginnings: [Int] = []
    }

    let entries: [HAR.Entry]
    private(set) var isUsed: [Bool]
    private let matching: RequestMatching
    private var groups: [[String]: Group] = [:]

    init(_ entries: [HAR.Entry], by matching: RequestMatching) {
        self.entries = entries
        self.matching = matching
        isUsed = Array(repeating: false, count: entries.count)
        for (index, entry) in entries.enumerated() {
            let head = matching.head(of: entry.request)
            groups[head, default: Group()].places.all.append(index)
            if let key = matching.key(ofRecorded: entry.request.body) {
                groups[head, default: Group()].bodies[key, default: Places()].all.append(index)
            } else {
                groups[head, default: Group()].beginnings.append(index)
            }
        }
    }

    /// The exchanges that no request has used.
    var unused: [HAR.Entry] { zip(entries, isUsed).filter { !$0.1 }.map(\.0) }

    /// Marks an exchange as used. Returns false if it was used already.
    mutating func use(_ index: Int) -> Bool {
        defer { isUsed[index] = true }
        return !isUsed[index]
    }

    /// Uses the first unused exchange whose request matches. `last`: the last one that matches, used or not.
    mutating func take(_ question: Question) -> (taken: Int?, last: Int?) {
        var (first, last): (Int?, Int?) = (nil, nil)
        for key in question.bodies {
            let found = groups[question.head]?.bodies[key]?.first(unusedIn: isUsed)
            first = [first, found].compactMap(\.self).min()
            last = [last, groups[question.head]?.bodies[key]?.all.last].compactMap(\.self).max()
        }
        for index in beginnings(question) {
            if !isUsed[index] { first = min(first ?? index, index) }
            last = max(last ?? index, index)
        }
        if let first { isUsed[first] = true }
        return (first, last)
    }

    /// All exchanges whose requests match, in their order.
    func matches(_ question: Question) -> [Int] {
        let found = question.bodies.flatMap { groups[question.head]?.bodies[$0]?.all ?? [] }
        return (found + beginnings(question)).sorted()
    }

    private func beginnings(_ question: Question) -> [Int] {
        (groups[question.head]?.beginnings ?? []).filter { index in
            matching.bodyDifference(entries[index].request.body, question.sent.body) == nil
        }
    }

    /// The unused exchanges whose requests match apart from their bodies, in order.
    mutating func unused(of head: [String]) -> [Int] {
        guard groups[head]?.places.first(unusedIn: isUsed) != nil, let places = groups[head]?.places else { return [] }
        return places.all[places.next...].filter { !isUsed[$0] }
    }
}
