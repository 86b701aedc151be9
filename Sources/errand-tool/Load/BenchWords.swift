/// Joins the two words of `errand bench compare` and `errand bench merge` to the one name of the command. For
/// ArgumentParser they are not subcommands of `bench`, because a command with subcommands takes no arguments itself,
/// and `errand bench URL` has no subcommand.
enum BenchWords {
    static let commands: Set<String> = ["compare", "merge"]

    /// `bench compare A B` as `bench-compare A B`, and `bench run PLAN` as `bench PLAN`.
    static func joined(_ arguments: [String]) -> [String] {
        let start = arguments.first == "help" ? 1 : 0
        guard arguments.count > start + 1, arguments[start] == "bench" else { return arguments }
        let word = arguments[start + 1]
        let rest = arguments[(start + 2)...]
        if commands.contains(word) { return Array(arguments[..<start]) + ["bench-\(word)"] + rest }
        guard word == "run", !rest.isEmpty || start > 0 else { return arguments }
        return Array(arguments[...start]) + rest
    }

    /// The command as the user types it.
    static func shown(_ command: String) -> String {
        command.hasPrefix("bench-") ? "bench " + command.dropFirst("bench-".count) : command
    }
}
