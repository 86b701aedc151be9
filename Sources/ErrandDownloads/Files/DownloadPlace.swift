import Glibc
import HTTPTypes

/// Finds the part of a download, or a place for a new one.
struct DownloadPlace: Sendable {
    let settings: DownloadSettings
    /// The requested URL, before redirects.
    let url: String
    /// The destination's name and its numbered forms, `name (1).txt` and so on.
    private static let maximumNames = 100

    /// The part for the named file, or the part that an earlier run has started in the directory; `nil`: the response
    /// determines the name.
    func open() throws(ErrandError) -> DownloadPart? {
        switch settings.destination {
        case .file(let path):
            let path = settings.overwrite == .replace ? try SymbolicLink.target(of: path) : path
            var paths = try DownloadPaths(destination: path)
            if settings.createsDirectories { try Self.makeDirectories(paths.directory) }
            if settings.overwrite == .number { paths = try Self.ownPlace(paths) }
            return try DownloadPart(paths, url: url, settings)
        case .directory(let directory):
            if settings.createsDirectories { try Self.makeDirectories(directory) }
            guard let begun = try begun(in: directory) else { return nil }
            return try DownloadPart(begun, url: url, settings)
        }
    }

    /// The part for the content of a response with this head.
    func open(for head: Response, from url: String) throws(ErrandError) -> DownloadPart {
        guard case .directory(let directory) = settings.destination else { throw .internalFailure }
        let paths = Self.paths(in: directory, for: head, from: url)
        guard settings.overwrite == .number else { return try DownloadPart(paths, url: self.url, settings) }
        // A part with that name may belong to another download, running or left over. The file of that download has to
        // be kept, too.
        for number in 0..<Self.maximumNames {
            let candidate = number == 0 ? paths : paths.numbered(number)
            do throws(ErrandError) {
                if try isForeign(candidate) { continue }
                return try DownloadPart(candidate, url: self.url, settings)
            } catch {
                guard error == .fileLocked else { throw error }
            }
        }
        throw .file(.fileExists, paths.destination, "and its \(Self.maximumNames - 1) numbered names are in use")
    }

    /// The file at the destination, to be compared with the expected digest; `nil` if there is none, or if the
    /// settings ask for no comparison.
    func finished(for head: Response?, from url: String) -> FinishedFile? {
        guard settings.overwrite == .fail, settings.expectedDigest != nil else { return nil }
        switch settings.destination {
        case .file(let path):
            return (try? DownloadPaths(destination: path)).flatMap { FinishedFile($0) }
        case .directory(let directory):
            return head.flatMap { FinishedFile(Self.paths(in: directory, for: $0, from: url)) }
        }
    }

    private static func paths(in directory: String, for head: Response, from url: String) -> DownloadPaths {
        let name = DownloadName(contentDisposition: head.headers[.contentDisposition], url: url)
        return DownloadPaths(directory: directory, name: name.text)
    }

    /// The first candidate without a part, or with a part of a download of this user.
    private static func ownPlace(_ paths: DownloadPaths) throws(ErrandError) -> DownloadPaths {
        let directory = try DownloadDirectory(paths)
        for number in 0..<Self.maximumNames {
            let candidate = number == 0 ? paths : paths.numbered(number)
            if !directory.hasForeignPart(candidate) { return candidate }
        }
        throw .file(.fileExists, paths.destination, "and its \(Self.maximumNames - 1) numbered names are in use")
    }

    private func isForeign(_ paths: DownloadPaths) throws(ErrandError) -> Bool {
        let directory = try DownloadDirectory(paths)
        if directory.hasForeignPart(paths) { return true }
        guard let journal = directory.readJournal() else { return false }
        return !journal.isOf(url, ignoringQuery: settings.ignoresQuery)
    }

    private func begun(in directory: String) throws(ErrandError) -> DownloadPaths? {
        var similar: DownloadPaths?
        for name in try DownloadDirectory.names(in: directory) {
            guard let paths = DownloadPaths(journal: name, in: directory) else { continue }
            let place = try DownloadDirectory(paths)
            guard let journal = place.readJournal(), journal.isOf(url, ignoringQuery: settings.ignoresQuery),
                !place.hasForeignPart(paths)
            else { continue }
            if journal.url == url { return paths }
            similar = similar ?? paths
        }
        return similar
    }

    static func makeDirectories(_ path: String) throws(ErrandError) {
        guard let failure = Directories.make(path, mode: 0o777) else { return }
        throw .file(failure.path, "cannot be created", errno: failure.error.number)
    }
}

extension DownloadDirectory {
    /// The names in a directory, in order. Throws like the initializer.
    static func names(in directory: String) throws(ErrandError) -> [String] {
        guard let stream = opendir(directory) else {
            throw .file(directory, "cannot be used as a download directory", errno: errno)
        }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            names.append(name)
        }
        return names.sorted()
    }
}

extension DownloadPaths {
    /// The paths of the download whose journal has this name; `nil` if the name is not the name of a journal.
    init?(journal name: String, in directory: String) {
        let ending = ".part.journal"
        guard name.hasSuffix(ending), name.utf8.count > ending.utf8.count else { return nil }
        self.init(directory: directory, name: String(name.dropLast(ending.count)))
    }
}
