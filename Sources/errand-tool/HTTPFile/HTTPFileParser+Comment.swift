import ErrandLoad

extension HTTPFileParser {
    /// Reads a comment with a directive, such as `# @name login`. Other comments are ignored.
    mutating func read(comment: Substring, _ line: HTTPFileLine, isHead: Bool) throws(HTTPFileError) {
        guard comment.hasPrefix("@") else { return }
        let place = line.position(of: comment)
        let word = comment.dropFirst().prefix { !" \t=".contains($0) }
        var value = comment[word.endIndex...].trimmed
        if value.hasPrefix("=") { value = value.dropFirst().trimmed }

        switch word {
        case "name", "no-redirect", "no-cookie-jar", "timeout", "connection-timeout", "expect", "think", "weight":
            guard isHead else {
                throw HTTPFileError(place, "'@\(word)' must be above the request line; is '###' missing?")
            }
        case "prompt", "note", "no-auto-encoding", "use-os-credentials":
            throw HTTPFileError(place, "'@\(word)' is not supported")
        default:
            return
        }
        if word == "name" {
            guard !value.isEmpty else { throw HTTPFileError(place, "'@name' has no name") }
            guard name == nil else { throw HTTPFileError(place, "'@name' is given twice for one request") }
            name = (String(value), place)
            return
        }
        var parsed = options?.value ?? HTTPFileRequest.Options()
        switch word {
        case "no-redirect": parsed.followsRedirects = false
        case "no-cookie-jar": parsed.usesCookies = false
        case "think":
            let text = value.filter { $0 != " " && $0 != "\t" }
            guard let think = ThinkArgument(argument: String(text))?.time else {
                throw HTTPFileError(place, "'@think' requires \(ThinkArgument.rule)")
            }
            parsed.think = think
        case "weight":
            guard let weight = Double(plain: value), (0...1_000_000).contains(weight) else {
                throw HTTPFileError(place, "'@weight' requires a number from 0 to 1,000,000")
            }
            parsed.weight = weight
        case "expect":
            guard parsed.expectations.isEmpty else {
                throw HTTPFileError(
                    place, "'@expect' is given twice for one request; separate several statuses by commas")
            }
            let position = value.isEmpty ? place : line.position(of: value)
            parsed.expectations.append(try HTTPExpectation(statuses: value, at: position))
        default:
            let text = value.filter { $0 != " " && $0 != "\t" }
            guard let duration = DurationArgument(argument: String(text))?.duration else {
                throw HTTPFileError(place, "'@\(word)' requires \(DurationArgument.rule)")
            }
            if word == "timeout" { parsed.idleTimeout = duration } else { parsed.connectTimeout = duration }
        }
        options = (parsed, options?.position ?? place)
    }
}
