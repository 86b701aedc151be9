import Glibc

/// Functions of the C library that its Swift module does not import: those that only `_GNU_SOURCE` declares, and
/// `flock`, whose name is taken by a structure. They set `errno` like all others.
package enum SystemCalls {
    package static func flock(_ descriptor: Int32, _ operation: Int32) -> Int32 {
        callFlock(descriptor, operation)
    }

    /// `RENAME_NOREPLACE`: EEXIST if the new name exists.
    static func renameWithoutReplacing(_ directory: Int32, _ old: String, _ new: String) -> Int32 {
        callRename(directory, old, directory, new, 1)
    }

    /// `FALLOC_FL_KEEP_SIZE`: reserves blocks for `length` bytes without changing the file's size.
    static func reserve(_ descriptor: Int32, _ length: off_t) -> Int32 {
        callAllocate(descriptor, 1, 0, length)
    }
}

@_silgen_name("flock")
private func callFlock(_ descriptor: Int32, _ operation: Int32) -> Int32

@_silgen_name("renameat2")
private func callRename(
    _ oldDirectory: Int32, _ old: UnsafePointer<CChar>, _ newDirectory: Int32, _ new: UnsafePointer<CChar>,
    _ flags: UInt32
) -> Int32

@_silgen_name("fallocate")
private func callAllocate(_ descriptor: Int32, _ mode: Int32, _ offset: off_t, _ length: off_t) -> Int32
