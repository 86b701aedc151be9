/// What a configuration says about a setting.
enum Given<Value> {
    /// The key is not set, so the program's value applies.
    case absent
    /// The word `none`.
    case none
    case value(Value)

    /// The value, or `base` where the key is not set. For keys without the word `none`.
    func or(_ base: Value) -> Value {
        if case .value(let value) = self { value } else { base }
    }

    /// The value; `none` for the word `none`, `base` where the key is not set.
    func or(_ base: Value, none: Value) -> Value {
        switch self {
        case .absent: base
        case .none: none
        case .value(let value): value
        }
    }

    /// The value; `nil`, or `none`, for the word `none`, `base` where the key is not set.
    func orNil(_ base: Value?, none: Value? = nil) -> Value? {
        switch self {
        case .absent: base
        case .none: none
        case .value(let value): value
        }
    }

    func map<Other>(_ change: (Value) -> Other) -> Given<Other> {
        switch self {
        case .absent: .absent
        case .none: .none
        case .value(let value): .value(change(value))
        }
    }
}
