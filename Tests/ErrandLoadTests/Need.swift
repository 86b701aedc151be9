import Testing

/// `#require` for the result of a mutating method, which the macro cannot call.
func need<Value>(_ value: Value?, _ location: SourceLocation = #_sourceLocation) throws -> Value {
    try #require(value, sourceLocation: location)
}
