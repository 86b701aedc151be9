/// What a command says about a part of its client that no policy can switch off (``Command/resilience``). `nil` instead
/// of a value means the client's part.
public enum CommandPart<Part: Sendable>: Sendable {
    /// The client's part does not apply, and nothing replaces it.
    case off
    /// This part applies instead of the client's.
    case own(Part)
}

extension PartChoice {
    /// `nil`: the client's part.
    init(_ part: CommandPart<Part>?) {
        switch part {
        case nil: self = .client
        case .off?: self = .off
        case .own(let own)?: self = .own(own)
        }
    }
}
