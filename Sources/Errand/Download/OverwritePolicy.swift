/// What a download does with a file that is at its destination already.
public enum OverwritePolicy: Sendable, Hashable {
    /// It stays until the new one is complete, and is then replaced in one step.
    case replace
    /// ``ErrandError/fileExists``: before anything is sent, or at the end, where the file came meanwhile.
    case fail
    /// `name (1).txt`, or the next number that is free at the end.
    case number
}
