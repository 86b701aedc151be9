import Glibc

extension Cassette {
    /// When a cassette records, and when it replays.
    public enum Mode: String, Sendable, Hashable, CaseIterable {
        /// Records everything if there is no file or the file has no entries; otherwise like ``none``.
        case once
        /// Only replays. A request that is not recorded fails.
        case none
        /// Replays the requests that are recorded, and records the others.
        case new
        /// Records everything anew, and replaces the file.
        case all

        /// The environment variable that sets the mode of all cassettes that are made without a mode. If the variable
        /// is `none`, or not a mode, no cassette records.
        public static let variable = "ERRAND_CASSETTE"

        /// The mode that the environment sets: the value of `ERRAND_CASSETTE`. Without this variable the mode is
        /// ``none`` in continuous integration, so that a test never reaches the network there, and ``once`` elsewhere.
        /// A value that is not a mode counts as ``none``. If this mode is ``none``, a mode in the code does not record
        /// either.
        ///
        /// The environment counts as continuous integration if `CI` or `TF_BUILD` is set and is not `false` or `0`, or
        /// if one of `GITHUB_ACTIONS`, `GITLAB_CI`, `JENKINS_URL`, `BUILDKITE`, `CODEBUILD_BUILD_ID` and
        /// `TEAMCITY_VERSION` is set.
        public static var standard: Mode {
            mode(by: value(of:))
        }

        /// The value of an environment variable.
        static func value(of name: String) -> String? {
            getenv(name).map { String(cString: $0) }
        }

        /// `value`: returns the value of an environment variable.
        static func mode(by value: (String) -> String?) -> Mode {
            if let name = value(variable), !name.isEmpty { return Mode(rawValue: name) ?? Mode.none }
            return isIntegration(by: value) ? Mode.none : Mode.once
        }

        private static let switches = ["CI", "TF_BUILD"]
        private static let marks = [
            "GITHUB_ACTIONS", "GITLAB_CI", "JENKINS_URL", "BUILDKITE", "CODEBUILD_BUILD_ID", "TEAMCITY_VERSION",
        ]

        private static func isIntegration(by value: (String) -> String?) -> Bool {
            switches.contains { !["", "0", "false"].contains(value($0)?.lowercased() ?? "") }
                || marks.contains { value($0)?.isEmpty == false }
        }

        /// The mode that a cassette really has. If the mode that the environment sets is ``none``, nothing is recorded,
        /// whatever mode the code names.
        func capped(by value: (String) -> String?) -> Mode {
            Mode.mode(by: value) == Mode.none ? Mode.none : self
        }
    }
}
