extension Deadline {
    /// Lets groups pass the deadline of their caller on to children that other tasks and threads start. Called when a
    /// client that obeys deadlines is made.
    static func passOn() {
        TaskDeadlines(
            present: {
                let deadline = current
                return { start in $current.withValue(deadline) { start() } }
            },
            none: { start in $current.withValue(nil) { start() } }
        ).tell()
    }
}
