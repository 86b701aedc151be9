import ArgumentParser

/// A header `Name: value`. The engine checks which characters a name and a value may have.
struct HeaderArgument: ExpressibleByArgument, Hashable, Sendable {
    let name: String
    let value: String

    init?(argument: String) {
        guard let colon = argument.firstIndex(of: ":"), colon != argument.startIndex else { return nil }
        name = String(argument[..<colon])
        let rest = argument[argument.index(after: colon)...]
        value = String(rest.drop { $0 == " " || $0 == "\t" })
    }
}
