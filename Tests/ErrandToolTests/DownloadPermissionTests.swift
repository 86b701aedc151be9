import ErrandTesting
import Foundation
import Testing

/// A user that may not write: `nobody`, where the tests run as root, who may write everything; else whoever runs them.
private struct NobodysRun {
    private static let isRoot = geteuid() == 0
    private static let setpriv = "/usr/bin/setpriv"
    private let folder: TemporaryFolder
    private let executable: String

    private struct NotCopied: Error {}

    /// With a tool where everybody may run it.
    init() throws {
        folder = try TemporaryFolder()
        guard Self.isRoot else {
            executable = ToolRun.executable.path
            return
        }
        executable = folder.file("errand").path
        // Not here: a child that another test forks would have the copy open for writing until it has called `exec`, and
        // what is open for writing cannot be run.
        let copy = try ProgramRun("/bin/cp", [ToolRun.executable.path, executable])
        guard copy.end() == 0 else { throw NotCopied() }
        for path in [folder.url.path, executable] { chmod(path, 0o755) }
    }

    func callAsFunction(_ arguments: [String]) throws -> (status: Int32?, errors: String) {
        let errors = folder.file("errors")
        try Data().write(to: errors)
        let user = [Self.setpriv, "--reuid=65534", "--regid=65534", "--clear-groups"]
        let command = (Self.isRoot ? user : []) + [executable] + arguments
        let run = try ProgramRun(command[0], Array(command.dropFirst()), errors: errors.path)
        return (run.end(), try String(contentsOf: errors, encoding: .utf8))
    }

    /// Whether such a user can run the tool at all: the toolchain's libraries may be in a place of root's own.
    static let isPossible: Bool = (try? NobodysRun()(["--version"]).status) == 0
}

/// What a download that lacks a permission says, ends with, and leaves.
@Suite(.timeLimit(.minutes(20)), .enabled(if: NobodysRun.isPossible)) struct DownloadPermissionTests {
    private let run: NobodysRun
    private let folder: TemporaryFolder

    init() throws {
        run = try NobodysRun()
        folder = try TemporaryFolder()
    }

    /// Nothing is asked for where nothing can be written: nobody listens at that port.
    @Test(arguments: ["", "file"]) func aFolderThatMayNotBeWritten(_ name: String) throws {
        chmod(folder.url.path, geteuid() == 0 ? 0o755 : 0o555)
        defer { chmod(folder.url.path, 0o755) }
        // With a directory as destination the name is the response's, so there has to be one.
        let nginx = name.isEmpty ? try NginxServer() : nil
        let url = nginx?.url("/files/12b") ?? "http://127.0.0.1:1/x"
        let path = name.isEmpty ? folder.url.path : folder.file(name).path
        let (status, errors) = try run(["download", url, "-o", path])
        #expect(status == 73)
        #expect(errors.hasPrefix("errand: fileAccessDenied: ") && errors.contains("Permission denied"), "\(errors)")
        #expect(folder.names.isEmpty)
    }

    @Test func aPartThatMayNotBeWritten() throws {
        let (part, journal) = (folder.file("file.part"), folder.file("file.part.journal"))
        for file in [part, journal] {
            try Data([1, 2, 3]).write(to: file)
            chmod(file.path, geteuid() == 0 ? 0o600 : 0)
        }
        chmod(folder.url.path, 0o777)
        let (status, errors) = try run(["download", "http://127.0.0.1:1/x", "-o", folder.file("file").path])
        #expect(status == 73 && errors.hasPrefix("errand: fileAccessDenied: "), "\(errors)")
        #expect(errors.contains(part.path))
        #expect(folder.names == ["file.part", "file.part.journal"])
        chmod(part.path, 0o600)
        #expect(try Data(contentsOf: part) == Data([1, 2, 3]))
    }

    /// As in /tmp: one may add files, but not replace another's. It is known at the end alone, and what came is kept.
    @Test(.enabled(if: geteuid() == 0)) func aFileThatMayNotBeReplaced() throws {
        let nginx = try NginxServer()
        let file = folder.file("12b")
        try Data([9]).write(to: file)
        chmod(folder.url.path, 0o1777)
        let (status, errors) = try run(["download", nginx.url("/files/12b"), "-o", file.path, "--overwrite"])
        #expect(status == 73 && errors.hasPrefix("errand: fileAccessDenied: "), "\(errors)")
        #expect(try Data(contentsOf: file) == Data([9]))
        #expect(folder.names == ["12b", "12b.part", "12b.part.journal"])
    }
}
