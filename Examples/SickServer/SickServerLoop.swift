import Foundation

/// The thread of a ``SickServer``: its connections, the queue, and the requests that are worked on.
struct SickServerLoop {
    private struct Connection {
        /// Distinguishes a connection from an earlier one with the same descriptor.
        let number: Int
        var head: [UInt8] = []
    }

    private struct Job {
        let descriptor: Int32
        let connection: Int
        let fails: Bool
        var end = 0.0
    }

    private let listener: Int32
    private let script: SickScript
    private let start: Double
    private var random: SeededNumbers
    private var connections: [Int32: Connection] = [:]
    private var accepted = 0
    private var queue: [Job] = []
    /// The index of the first job in the queue. The jobs before it have left the queue.
    private var queueStart = 0
    private var working: [Job] = []
    private var arrived: [Double] = []
    /// The first failure to accept a connection, which makes the whole run worthless.
    private(set) var failure: SickError?

    init(listener: Int32, script: SickScript, start: Double, seed: UInt64) {
        self.listener = listener
        self.script = script
        self.start = start
        random = SeededNumbers(seed: seed)
    }

    /// Waits at most 5 ms for events, and handles them. Returns the times when requests arrived.
    mutating func turn() -> [Double] {
        arrived.removeAll(keepingCapacity: true)
        var now = SickTime.now - start
        let next = working.map(\.end).min().map { $0 - now } ?? 1
        // A connection that cannot be accepted stays in the listen queue, and would end each wait at once.
        var polled = failure == nil ? [pollfd(fd: listener, events: Int16(POLLIN), revents: 0)] : []
        for descriptor in connections.keys {
            polled.append(pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0))
        }
        _ = poll(&polled, nfds_t(polled.count), Int32(max(0, min(next * 1000, 5)).rounded(.up)))
        now = SickTime.now - start
        let health = script.health(at: now)
        if health == .dead, !connections.isEmpty || !working.isEmpty { die() }
        for entry in polled where entry.revents != 0 {
            if entry.fd == listener { accept(health, now) } else { read(entry.fd, health, now) }
        }
        work(now)
        return arrived
    }

    /// Closes all sockets.
    mutating func end() {
        die()
        close(listener)
    }

    private mutating func die() {
        for descriptor in connections.keys { Self.reset(descriptor) }
        connections = [:]
        (queue, queueStart, working) = ([], 0, [])
    }

    /// Closes a connection with RST.
    private static func reset(_ descriptor: Int32) {
        var option = linger(l_onoff: 1, l_linger: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
        close(descriptor)
    }

    private mutating func accept(_ health: SickScript.Health, _ now: Double) {
        while true {
            let descriptor = Foundation.accept(listener, nil, nil)
            guard descriptor >= 0 else {
                // The client closed the connection before it was accepted.
                if errno == EINTR || errno == ECONNABORTED { continue }
                if errno != EAGAIN { failure = SickError.system("the server cannot accept a connection") }
                return
            }
            _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
            _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
            accepted += 1
            if health == .dead {
                arrived.append(now)
                Self.reset(descriptor)
            } else {
                var option: Int32 = 1
                setsockopt(
                    descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &option, socklen_t(MemoryLayout<Int32>.size))
                connections[descriptor] = Connection(number: accepted)
            }
        }
    }

    private mutating func read(_ descriptor: Int32, _ health: SickScript.Health, _ now: Double) {
        guard var connection = connections[descriptor] else { return }
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = Foundation.read(descriptor, &bytes, bytes.count)
        if count < 0, errno == EAGAIN || errno == EINTR { return }
        guard count > 0 else {
            // The job of an abandoned request stays, because the server does not look at the connection until it has an
            // answer.
            connections[descriptor] = nil
            close(descriptor)
            return
        }
        connection.head += bytes[..<count]
        // Requests have no body, and a client sends the next one only after the answer.
        if connection.head.suffix(4).elementsEqual("\r\n\r\n".utf8) {
            connection.head = []
            arrived.append(now)
            take(Job(descriptor: descriptor, connection: connection.number, fails: fails(health)), health)
        }
        connections[descriptor] = connection
    }

    private mutating func fails(_ health: SickScript.Health) -> Bool {
        if case .failing(let share) = health { Double.random(in: 0..<1, using: &random) < share } else { false }
    }

    private mutating func take(_ job: Job, _ health: SickScript.Health) {
        if case .stalling(let share) = health, Double.random(in: 0..<1, using: &random) < share { return }
        guard queue.count - queueStart < SickServer.queueLimit else { return answer(job, with: 503) }
        queue.append(job)
    }

    private mutating func work(_ now: Double) {
        for job in working where job.end <= now { answer(job, with: job.fails ? 503 : 200) }
        working.removeAll { $0.end <= now }
        while working.count < SickServer.slots, queueStart < queue.count {
            var job = queue[queueStart]
            queueStart += 1
            job.end = now + Double.random(in: SickServer.workTime, using: &random)
            working.append(job)
        }
        if queueStart > 1000 {
            queue.removeFirst(queueStart)
            queueStart = 0
        }
    }

    private func answer(_ job: Job, with status: Int) {
        // The connection may be closed, and its descriptor may belong to another connection.
        guard connections[job.descriptor]?.number == job.connection else { return }
        let text = "HTTP/1.1 \(status) \(status == 200 ? "OK" : "Sick")\r\nContent-Length: 3\r\n\r\nok\n"
        // MSG_NOSIGNAL: a closed connection must not end this process. The answer fits into the socket's buffer.
        _ = Array(text.utf8).withUnsafeBytes { bytes in
            send(job.descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
        }
    }
}
