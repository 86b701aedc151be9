extension RequestGraph {
    /// Throws ``ErrandError/invalidArgument`` or ``ErrandError/dependencyCycle``.
    func plan() throws(ErrandError) -> GroupStateMachine.Plan {
        guard maxConcurrent > 0 else {
            throw ErrandError.invalidArgument.with(message: "'maxConcurrent' is \(maxConcurrent), expected 1 or more")
        }
        var numbers: [String: Int] = [:]
        for (index, member) in members.enumerated() where numbers.updateValue(index, forKey: member.name) != nil {
            throw ErrandError.invalidArgument.with(message: "the graph has two members named '\(member.name)'")
        }
        var dependents = [[Int]](repeating: [], count: members.count)
        var needs = [Int](repeating: 0, count: members.count)
        for (index, member) in members.enumerated() {
            for name in Set(member.needs) {
                guard let needed = numbers[name] else {
                    throw ErrandError.invalidArgument.with(
                        message: "'\(member.name)' needs '\(name)', which is not a member of the graph")
                }
                dependents[needed].append(index)
                needs[index] += 1
            }
        }
        // Sorted into the order of the members, because a set has no order.
        for index in dependents.indices { dependents[index].sort() }
        if let cycle = cycle(numbers) {
            throw ErrandError.dependencyCycle.with(message: cycle.map { "'\($0)'" }.joined(separator: " needs "))
        }
        return .init(
            count: members.count, width: maxConcurrent, policy: continuesAfterFailures ? .collectAll : .failFast,
            failsAtEnd: true, dependencies: .init(dependents: dependents, needs: needs))
    }

    /// The names along a cycle; the first name is repeated at the end. Uses its own stack because a graph may be deep.
    private func cycle(_ numbers: [String: Int]) -> [String]? {
        enum Mark { case unseen, open, done }
        var marks = [Mark](repeating: .unseen, count: members.count)
        for root in members.indices where marks[root] == .unseen {
            var way: [(member: Int, next: Int)] = [(root, 0)]
            marks[root] = .open
            while let (member, next) = way.last {
                guard next < members[member].needs.count else {
                    marks[member] = .done
                    way.removeLast()
                    continue
                }
                way[way.count - 1].next += 1
                guard let needed = numbers[members[member].needs[next]] else { continue }
                switch marks[needed] {
                case .done: break
                case .unseen:
                    marks[needed] = .open
                    way.append((needed, 0))
                case .open:
                    let circle = way.drop { $0.member != needed }.map { members[$0.member].name }
                    return circle + [members[needed].name]
                }
            }
        }
        return nil
    }
}
