/// Why a cassette has no answer for a request: the ``/Errand/ErrandError/underlyingError`` of
/// ``/Errand/ErrandError/unexpectedRequest``. Its text lists the differences from the nearest recorded request, with
/// secrets hidden.
public struct CassetteMismatch: Error, Sendable, CustomStringConvertible {
    /// The recorded request that differs least.
    public struct Nearest: Sendable {
        /// The number of the entry on the cassette, from 1.
        public let number: Int
        /// The method and URL of the recorded request.
        public let request: String
        /// The differences; empty: there are none, but all recorded answers were used already.
        public let differences: [RequestDifference]
    }

    /// The path of the cassette.
    public let path: String
    /// The mode of the cassette.
    public let mode: Cassette.Mode
    /// The method and the URL of the request.
    public let request: String
    /// The nearest recorded request; `nil`: the cassette is empty.
    public let nearest: Nearest?
    /// Whether the request had its answer before its body was complete.
    var isAnswered = false

    /// A readable text of several lines.
    public var description: String {
        var text = "\(request) is not on the cassette '\(path)' (mode \(mode.rawValue))"
        if isAnswered, let nearest {
            text =
                "\(request) was answered by entry \(nearest.number) of the cassette '\(path)' (mode \(mode.rawValue)) before its "
            text += "body was complete, and the body is another one:"
            for difference in nearest.differences { text += "\n  \(difference)" }
            return text + hint
        }
        guard let nearest else { return text + ", which is empty or missing" + hint }
        if nearest.differences.isEmpty {
            text += ": an equal request was recorded, entry \(nearest.number), and its answers are used up;"
            text += " with allowsRepeats the last one answers all further requests"
        } else {
            text += "; nearest is entry \(nearest.number), \(nearest.request):"
            for difference in nearest.differences { text += "\n  \(difference)" }
        }
        return text + hint
    }

    private var hint: String { "\n" + Self.hint(mode, by: Cassette.Mode.value(of:)) }

    /// Says how the request can be recorded. `value`: returns the value of an environment variable.
    static func hint(_ mode: Cassette.Mode, by value: (String) -> String?) -> String {
        let variable = Cassette.Mode.variable
        let given = value(variable) ?? ""
        if !given.isEmpty, Cassette.Mode(rawValue: given) == nil {
            return "\(variable) is '\(given)', which is no mode; the modes are once, none, new and all."
        }
        guard mode == Cassette.Mode.mode(by: value) else {
            return
                "The code gives the mode, so \(variable) has no effect. To record the request, give the mode new there."
        }
        return
            "To record it, run with \(variable)=new, or =all to record everything anew. A mode in the code comes first."
    }
}
