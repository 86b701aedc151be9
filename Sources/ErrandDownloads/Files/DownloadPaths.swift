/// The paths of a download: `name`, and during the download `name.part` and `name.part.journal` beside it.
struct DownloadPaths: Sendable, Hashable {
    let directory: String
    let name: String

    var part: String { name + ".part" }
    var journal: String { part + ".journal" }
    /// The name of a new journal while it is being written.
    var newJournal: String { journal + ".new" }

    /// Throws ``ErrandError/fileIsDirectory`` for a path that cannot name a file, and ``ErrandError/fileUnwritable``
    /// for a NUL.
    init(destination: String) throws(ErrandError) {
        guard !destination.utf8.contains(0) else {
            throw .file(.fileUnwritable, destination, "cannot be written: the path contains a NUL")
        }
        let slash = destination.utf8.lastIndex(of: UInt8(ascii: "/"))
        name = slash.map { String(destination[destination.utf8.index(after: $0)...]) } ?? destination
        directory =
            switch slash {
            case nil: "."
            case destination.startIndex?: "/"
            case let slash?: String(destination[..<slash])
            }
        guard !["", ".", ".."].contains(name) else {
            throw .file(.fileIsDirectory, destination, "is a directory, not a file")
        }
    }

    init(directory: String, name: String) {
        self.directory = directory
        self.name = name
    }

    func path(_ name: String) -> String {
        directory == "." ? name : directory == "/" ? "/" + name : directory + "/" + name
    }

    var destination: String { path(name) }

    /// `name (1).txt` in the same directory.
    func numbered(_ number: Int) -> DownloadPaths {
        DownloadPaths(directory: directory, name: DownloadName(name).numbered(number).text)
    }
}
