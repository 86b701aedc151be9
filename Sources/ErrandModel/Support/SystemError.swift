import Glibc

/// An error number of the system (`errno`).
package struct SystemError: Error, Hashable {
    package let number: Int32

    package init(_ number: Int32) {
        self.number = number
    }

    /// The system's text, as `No such file or directory`.
    package var text: String { String(cString: strerror(number)) }

    /// Whether there is no space: on the disk, in a quota or in a limit of file size.
    package var isOutOfSpace: Bool {
        switch number {
        case ENOSPC, EDQUOT, EFBIG: true
        default: false
        }
    }
}
