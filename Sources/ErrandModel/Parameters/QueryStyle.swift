/// How ``Parameters`` are written in a query or form. The defaults are AFNetworking's rules: names are sorted; `a[b]`
/// and `a[]`; a set repeats the name; null is a name without `=`; booleans are 1 and 0. All characters except
/// unreserved ones, `/` and `?` are percent-encoded, `%` included; a space is `%20`.
public struct QueryStyle: Sendable, Hashable {
    /// How the elements of an array are named.
    public enum Arrays: Sendable, Hashable {
        /// `a[]=1&a[]=2`
        case brackets
        /// `a=1&a=2`
        case repeated
        /// `a[0]=1&a[1]=2`
        case indexed
        /// `a=1,2`; commas within elements are encoded. Elements must be scalars and not null; any other element is
        /// ``ErrandError/requestEncodingFailed``. An empty array is `a=`.
        case comma
    }

    /// How the members of an object are named.
    public enum Nesting: Sendable, Hashable {
        /// `a[b]=1`
        case brackets
        /// `a.b=1`
        case dots
    }

    /// How booleans are written.
    public enum Booleans: Sendable, Hashable {
        /// `1` and `0`, as NSNumber writes them.
        case numeric
        /// `true` and `false`.
        case literal
    }

    /// How a space is written.
    public enum Spaces: Sendable, Hashable {
        /// `%20`
        case percent
        /// `+`, as in HTML forms; a plus sign is `%2B` in both styles.
        case plus
    }

    /// How null is written.
    public enum Nulls: Sendable, Hashable {
        /// `a`
        case nameOnly
        /// `a=`
        case empty
        /// The name is left out, too.
        case omitted
    }

    /// Default: brackets.
    public var arrays = Arrays.brackets
    /// Default: brackets.
    public var nesting = Nesting.brackets
    /// Default: numeric.
    public var booleans = Booleans.numeric
    /// Default: percent.
    public var spaces = Spaces.percent
    /// Default: the name only.
    public var nulls = Nulls.nameOnly
    /// Whether names are sorted at every level, by Unicode scalars. Default: yes; if not, they keep their order.
    public var sortsNames = true

    /// AFNetworking's rules; set the members that should differ.
    public init() {}

    /// AFNetworking's rules.
    public static let afNetworking = QueryStyle()
}
