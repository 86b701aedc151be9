/// Holds tasks until it is opened, and tells when so many have come.
actor Gate {
    private var isOpen: Bool
    private(set) var arrived = 0
    private var held: [CheckedContinuation<Void, Never>] = []
    private var watchers: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []

    init(isOpen: Bool = false) {
        self.isOpen = isOpen
    }

    /// Returns once the gate is open.
    func pass() async {
        arrived += 1
        for watcher in watchers where watcher.count <= arrived { watcher.continuation.resume() }
        watchers.removeAll { $0.count <= arrived }
        if isOpen { return }
        await withCheckedContinuation { held.append($0) }
    }

    /// Returns once so many have come, passed or not.
    func arrivals(_ count: Int) async {
        if arrived >= count { return }
        await withCheckedContinuation { watchers.append((count, $0)) }
    }

    func open() {
        isOpen = true
        for continuation in held { continuation.resume() }
        held = []
    }
}
