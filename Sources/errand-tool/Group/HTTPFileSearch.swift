import Foundation

/// A `.http` file to be run.
struct HTTPFileLocation: Equatable, Sendable {
    enum Origin: Sendable {
        case standardInput
        case named
        /// Found in a folder that was named on the command line.
        case found
    }

    /// The path as shown in messages.
    let path: String
    /// The folder against which the file's relative paths are resolved.
    let folder: String
    /// The folders that are searched for environment files: the file's own folder, and those above it up to the named
    /// one.
    let environmentFolders: [String]
    let origin: Origin

    /// Whether the file is recorded traffic.
    var isHAR: Bool { origin == .named && path.lowercased().hasSuffix(".har") }
}

/// Finds the files named on the command line.
enum HTTPFileSearch {
    private static let endings = [".http", ".rest"]

    /// In the order of the arguments. The files of a folder are sorted by name; a folder within it is sorted among
    /// them, and its files follow at that place.
    static func locations(_ arguments: [String]) throws(ToolError) -> [HTTPFileLocation] {
        guard arguments.count(where: { $0 == "-" }) < 2 else {
            throw ToolError(.usage, "'-' (standard input) is given twice")
        }
        var locations: [HTTPFileLocation] = []
        for argument in arguments {
            guard argument != "-" else {
                locations.append(
                    HTTPFileLocation(
                        path: "standard input", folder: ".", environmentFolders: ["."], origin: .standardInput))
                continue
            }
            guard isFolder(argument) else {
                let folder = folder(of: argument)
                locations.append(
                    HTTPFileLocation(path: argument, folder: folder, environmentFolders: [folder], origin: .named))
                continue
            }
            let found = try files(in: withoutSlash(argument), above: [])
            guard !found.isEmpty else {
                throw ToolError(.inputFile, "'\(argument)': the folder has no .http or .rest file")
            }
            locations += found
        }
        return locations
    }

    /// Skips hidden files and folders, and links to folders, because links may form a cycle.
    private static func files(in folder: String, above: [String]) throws(ToolError) -> [HTTPFileLocation] {
        let names: [String]
        do {
            names = try FileManager.default.contentsOfDirectory(atPath: folder.isEmpty ? "/" : folder)
        } catch {
            throw ToolError(.inputFile, "cannot read '\(folder)': \(ToolError.reason(error))")
        }
        let folders = [folder] + above
        var locations: [HTTPFileLocation] = []
        for name in names.sorted(by: { $0.utf8.lexicographicallyPrecedes($1.utf8) }) where !name.hasPrefix(".") {
            let path = folder + "/" + name
            if isFolder(path) {
                guard (try? FileManager.default.destinationOfSymbolicLink(atPath: path)) == nil else { continue }
                locations += try files(in: path, above: folders)
            } else if endings.contains(where: { name.lowercased().hasSuffix($0) }) {
                locations.append(
                    HTTPFileLocation(path: path, folder: folder, environmentFolders: folders, origin: .found))
            }
        }
        return locations
    }

    private static func isFolder(_ path: String) -> Bool {
        var isDirectory: ObjCBool = false
        return FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory) && isDirectory.boolValue
    }

    private static func folder(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    /// The path without slashes at its end; the root becomes an empty path.
    private static func withoutSlash(_ path: String) -> String {
        var path = path[...]
        while path.last == "/" { path.removeLast() }
        return String(path)
    }
}
