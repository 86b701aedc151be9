import ArgumentParser
import Foundation

/// `name:password`, from `-u` or from a URL. Without a colon the tool asks for the password on the terminal.
struct UserArgument: ExpressibleByArgument, Hashable, Sendable {
    let user: String
    let password: String

    init?(argument: String) {
        guard let colon = argument.firstIndex(of: ":") else {
            guard let password = Self.ask("Password of '\(Shown.text(argument))': ") else { return nil }
            self.init(user: argument, password: password)
            return
        }
        self.init(user: String(argument[..<colon]), password: String(argument[argument.index(after: colon)...]))
    }

    init(user: String, password: String) {
        (self.user, self.password) = (user, password)
    }

    /// `nil` where there is no terminal, because `getpass` would then read standard input.
    private static func ask(_ prompt: String) -> String? {
        let terminal = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)
        guard terminal >= 0 else { return nil }
        close(terminal)
        guard let typed = getpass(prompt) else { return nil }
        return String(cString: typed)
    }
}
