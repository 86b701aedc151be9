import HTTPTypes

extension HeaderBlock: CustomStringConvertible, CustomDebugStringConvertible {
    /// One field per line; the values of secret fields are left out, see ``Redaction/secretHeaders``.
    public var description: String {
        Redaction.standard.fields(fields).map { "\($0.name): \($0.value)" }.joined(separator: "\n")
    }

    /// The same as ``description``.
    public var debugDescription: String { description }
}
