/// Adds `errand bench compare` and `errand bench merge` to the completion scripts of ArgumentParser, which know only
/// one word for each command: `errand bench <TAB>` offers the second words, and after a second word the options of its
/// command.
///
/// If a later version of ArgumentParser writes an anchor differently, the script is not changed there, and the
/// completion tests fail.
enum BenchCompletion {
    /// The text with the two-word commands added, if it is a script of bash, zsh or fish.
    static func completed(_ text: String) -> String {
        if text.hasPrefix("#!/bin/bash\n") { return bash(text) }
        if text.hasPrefix("#compdef errand\n") { return zsh(text) }
        return text.contains("\ncomplete -c 'errand' -f\n") ? fish(text) : text
    }

    private static let words = BenchWords.commands.sorted()
    private static let commands = words.map { "bench-\($0)" }

    /// `unparsed_words` has the words of the line. The last one is completed.
    private static func bash(_ text: String) -> String {
        let anchor = #"    local -r subcommand="${unparsed_words[0]}""# + "\n"
        let joining = #"""
                # The two words of bench compare and bench merge are one command.
                if [[ "${unparsed_words[0]}" = bench && "${#unparsed_words[@]}" -eq 2 && "${cur}" != -* ]]; then
                    COMPREPLY+=($(compgen -W 'WORDS' -- "${cur}"))
                elif [[ "${unparsed_words[0]}" = bench && "${unparsed_words[1]}" = @(CHOICE) ]]; then
                    unparsed_words=("bench-${unparsed_words[1]}" "${unparsed_words[@]:2}")
                fi

            """#
        return
            text
            .replacing(anchor, with: shell(joining) + anchor, maxReplacements: 1)
            .replacing(" bench " + commands.joined(separator: " ") + " ", with: " bench ")
    }

    /// `words` has the words from the subcommand on. The word with the number `CURRENT` is completed.
    private static func zsh(_ text: String) -> String {
        let anchor = "        case \"${words[1]}\" in\n"
        let joining = #"""
                    # The two words of bench compare and bench merge are one command.
                    if [[ "${words[1]}" = bench ]] && (( CURRENT == 2 )); then
                        local -ar bench_commands=(
            ROWS
                        )
                        _describe -V 'bench command' bench_commands && ret=0
                    elif [[ "${words[1]}" = bench && "${words[2]}" = (CHOICE) ]]; then
                        shift words
                        words[1]="bench-${words[1]}"
                        (( CURRENT-- ))
                    fi

            """#
        var rows: [String] = []
        var lines: [Substring] = []
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            if commands.contains(where: { line.hasPrefix("            '\($0):") }) {
                rows.append("    " + line.replacing("'bench-", with: "'", maxReplacements: 1))
            } else {
                lines.append(line)
            }
        }
        return lines.joined(separator: "\n").replacing(
            anchor, with: shell(joining).replacing("ROWS", with: rows.joined(separator: "\n")) + anchor,
            maxReplacements: 1)
    }

    /// The words before the one that is completed are in `unparsed_tokens`.
    private static func fish(_ text: String) -> String {
        let anchor = "    set -l unparsed_tokens (__errand_tokens -pc)\n"
        let joining = """
                # The two words of bench compare and bench merge are one command.
                if test (count $unparsed_tokens) -gt 2; and test "$unparsed_tokens[2]" = bench
                    if contains -- "$unparsed_tokens[3]" WORDS
                        set -e unparsed_tokens[2]
                        set unparsed_tokens[2] bench-$unparsed_tokens[2]
                    end
                end

            """
        var text = text.replacing(anchor, with: anchor + shell(joining), maxReplacements: 1)
        for (word, command) in zip(words, commands) {
            text.replace(
                "_for_positional \"errand\" -eq 1' -fa '\(command)'",
                with: "_for_positional \"errand bench\" -eq 1' -fa '\(word)'", maxReplacements: 1)
        }
        return text
    }

    private static func shell(_ text: String) -> String {
        text.replacing("WORDS", with: words.joined(separator: " "))
            .replacing("CHOICE", with: words.joined(separator: "|"))
    }
}
