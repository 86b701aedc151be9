extension JSONShape {
    /// The declaration of one key of an object: the shape of its value, and whether the key may be missing.
    ///
    /// Has the static members of ``JSONShape`` for required keys, so that an object's shape needs no wrapper.
    public struct Field: Sendable, Hashable {
        /// The shape of the value.
        public var shape: JSONShape
        /// Whether the key is required.
        public var isRequired: Bool

        /// Makes a field; required by default.
        public init(_ shape: JSONShape, isRequired: Bool = true) {
            self.shape = shape
            self.isRequired = isRequired
        }
    }
}

extension JSONShape.Field {
    /// The key must be there.
    public static func required(_ shape: JSONShape) -> Self { Self(shape) }
    /// The key may be missing. A value of `null` must be allowed by the shape, as in `.optional(.nullable(.string))`.
    public static func optional(_ shape: JSONShape) -> Self { Self(shape, isRequired: false) }

    /// A required key with ``JSONShape/any``.
    public static var any: Self { Self(.any) }
    /// A required ``JSONShape/anyObject``.
    public static var anyObject: Self { Self(.anyObject) }
    /// A required ``JSONShape/anyArray``.
    public static var anyArray: Self { Self(.anyArray) }
    /// A required key with ``JSONShape/string``.
    public static var string: Self { Self(.string) }
    /// A required key with ``JSONShape/number``.
    public static var number: Self { Self(.number) }
    /// A required key with ``JSONShape/integer``.
    public static var integer: Self { Self(.integer) }
    /// A required key with ``JSONShape/bool``.
    public static var bool: Self { Self(.bool) }
    /// A required key with ``JSONShape/null``.
    public static var null: Self { Self(.null) }
    /// A required key with ``JSONShape/object(_:)``.
    public static func object(_ fields: [String: Self]) -> Self { Self(.object(fields)) }
    /// A required key with ``JSONShape/exact(_:)``.
    public static func exact(_ fields: [String: Self]) -> Self { Self(.exact(fields)) }
    /// A required key with an array whose elements all have that shape.
    public static func array(of element: JSONShape, count: ClosedRange<Int> = 0 ... .max) -> Self {
        Self(.array(of: element, count: count))
    }
    /// A required key with an array of at least `count.lowerBound` elements.
    public static func array(of element: JSONShape, count: PartialRangeFrom<Int>) -> Self {
        Self(.array(of: element, count: count))
    }
    /// A required key with ``JSONShape/enumeration(_:)``.
    public static func enumeration(_ values: [JSONValue]) -> Self { Self(.enumeration(values)) }
    /// A required key with ``JSONShape/oneOf(_:)``.
    public static func oneOf(_ shapes: [JSONShape]) -> Self { Self(.oneOf(shapes)) }
    /// A required key with ``JSONShape/nullable(_:)``: the key must be present, and its value may be `null`.
    public static func nullable(_ shape: JSONShape) -> Self { Self(.nullable(shape)) }
}

extension JSONShape.Field: ExpressibleByDictionaryLiteral {
    /// A required key with an object; if a key occurs twice, the last field is used.
    public init(dictionaryLiteral elements: (String, JSONShape.Field)...) {
        self.init(.object(Dictionary(elements) { $1 }))
    }
}

extension JSONShape.Field: ExpressibleByArrayLiteral {
    /// A required key with an array; see the array literal of ``JSONShape``.
    public init(arrayLiteral elements: JSONShape...) {
        switch elements.count {
        case 0: self.init(.array(of: .any))
        case 1: self.init(.array(of: elements[0]))
        default: self.init(.array(of: .oneOf(elements)))
        }
    }
}
