import Errand
import Foundation

/// Checks whether a file can be read, and explains why not.
enum FileCheck {
    /// The reason why the file cannot be read; `nil` if it can be read.
    static func whyUnreadable(_ path: String) -> String? {
        var status = stat()
        guard stat(path, &status) == 0 else {
            return errno == ENOENT ? "no such file" : SystemError(errno).text
        }
        if status.st_mode & S_IFMT == S_IFDIR { return "is a directory" }
        return access(path, R_OK) == 0 ? nil : SystemError(errno).text.lowercased()
    }
}
