/// A man page in the macros of man(7), generated from the declaration of a command.
struct ManualPage {
    let fileName: String
    let text: String

    /// The page of the tool, and one for each subcommand.
    static func all() throws(ToolError) -> [ManualPage] {
        let tool = try DeclaredCommand.tool()
        let subcommands = tool.shownSubcommands
        let names = [tool.commandName] + subcommands.map { "\(tool.commandName)-\($0.commandName)" }
        return zip(names, [tool] + subcommands).map { name, command in
            ManualPage(name, command, of: tool, seeAlso: names.filter { $0 != name })
        }
    }

    private init(_ name: String, _ command: DeclaredCommand, of tool: DeclaredCommand, seeAlso: [String]) {
        fileName = "\(name).1"
        let subcommands = command.shownSubcommands
        let version = ToolVersion.errand
        var page = ".TH \(Self.escaped(name.uppercased())) 1 \"\" \"\(Self.escaped(version))\" \"User commands\"\n"
        page += ".SH NAME\n\(Self.escaped(name)) \\- \(Self.escaped(Self.withoutPoint(command.abstract ?? "")))\n"
        page += ".SH SYNOPSIS\n\(Self.synopsis(name, command))\n"
        page += ".SH DESCRIPTION\n" + Self.paragraphs(command.abstract ?? "")
        let discussion = (command.discussion ?? "").replacing(ExitStatus.help, with: "")
        if !discussion.allSatisfy(\.isWhitespace) { page += ".PP\n" + Self.paragraphs(discussion) }
        if !subcommands.isEmpty {
            page += ".SH SUBCOMMANDS\n"
            for subcommand in subcommands {
                page += ".TP\n.BR \(Self.escaped("\(name)-\(subcommand.commandName)")) (1)\n"
                page += Self.paragraphs(subcommand.abstract ?? "")
            }
        }
        if !command.positionals.isEmpty {
            page += ".SH ARGUMENTS\n" + command.positionals.map(Self.entry).joined()
        }
        page += ".SH OPTIONS\n" + command.options.map(Self.entry).joined()
        page += ".SH EXIT STATUS\n"
        for status in ExitStatus.allCases {
            page += ".TP\n.B \(status.rawValue)\n" + Self.paragraphs(status.meaning)
        }
        page += ".PP\n" + Self.paragraphs("If several URLs or requests fail, the first one on the command line counts.")
        page += ".SH SEE ALSO\n" + seeAlso.map { ".BR \(Self.escaped($0)) (1)" }.joined(separator: ",\n") + "\n"
        text = page
    }

    // MARK: Parts

    private static func synopsis(_ name: String, _ command: DeclaredCommand) -> String {
        let words = name.split(separator: "-").joined(separator: " ")
        var text = "\\fB\(escaped(words))\\fR"
        if !command.options.isEmpty { text += " [\\fIoptions\\fR]" }
        if !command.shownSubcommands.isEmpty { text += " \\fIsubcommand\\fR" }
        for argument in command.positionals {
            let value = "\\fI\(escaped(argument.valueName ?? "value"))\\fR" + (argument.isRepeating ? "..." : "")
            text += argument.isOptional ? " [\(value)]" : " \(value)"
        }
        return text
    }

    private static func entry(_ argument: DeclaredCommand.Argument) -> String {
        var head: String
        let value = "\\fI\(escaped(argument.valueName ?? "value"))\\fR"
        if argument.kind == "positional" {
            head = value + (argument.isRepeating ? "..." : "")
        } else {
            // Short names come first, in whatever order they were declared.
            let names = (argument.names ?? []).map(\.text)
            let sorted = names.filter { !$0.hasPrefix("--") } + names.filter { $0.hasPrefix("--") }
            head = sorted.map { "\\fB\(escaped($0))\\fR" }.joined(separator: ", ")
            if argument.kind == "option" { head += " " + value }
        }
        var words = [argument.abstract, argument.discussion].compactMap { $0 }.filter { !$0.isEmpty }
        if let values = argument.allValues, !values.isEmpty {
            words.append("One of: \(values.joined(separator: ", ")).")
        }
        if let value = argument.defaultValue, argument.kind == "option", !value.isEmpty {
            words.append("Default: \(value).")
        }
        return ".TP\n\(head)\n" + paragraphs(words.isEmpty ? "" : words.joined(separator: " "))
    }

    /// Filled text; a blank line begins a new paragraph.
    private static func paragraphs(_ text: String) -> String {
        var result = ""
        for line in text.split(separator: "\n", omittingEmptySubsequences: false).map(\.trimmed) {
            if !line.isEmpty {
                result += escaped(line) + "\n"
            } else if !result.isEmpty, !result.hasSuffix(".PP\n") {
                result += ".PP\n"
            }
        }
        while result.hasSuffix(".PP\n") { result.removeLast(".PP\n".count) }
        return result.isEmpty ? "\\&\n" : result
    }

    private static func withoutPoint(_ text: String) -> String {
        text.hasSuffix(".") ? String(text.dropLast()) : text
    }

    /// Escapes text by the rules of roff(7). Hyphens are written as minus signs, so that options can be copied from the
    /// page.
    private static func escaped(_ text: some StringProtocol) -> String {
        var escaped = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\\": escaped += "\\e"
            case "-": escaped += "\\-"
            case "'": escaped += "\\(aq"
            case "\"": escaped += "\\(dq"
            case "`": escaped += "\\(ga"
            case "^": escaped += "\\(ha"
            case "~": escaped += "\\(ti"
            case "." where escaped.isEmpty: escaped += "\\&."
            case _ where scalar.value >= 0x80: escaped += "\\[u\(digits(scalar))]"
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }

    private static func digits(_ scalar: Unicode.Scalar) -> String {
        let digits = String(scalar.value, radix: 16, uppercase: true)
        return String(repeating: "0", count: max(0, 4 - digits.count)) + digits
    }
}
