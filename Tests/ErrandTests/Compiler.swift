import ErrandTesting
import Foundation
import Testing

/// Swift's compiler, for code that must not compile, or must beside other modules.
enum Compiler {
    /// What it says of a file that may import Errand.
    ///
    /// - Parameter modules: Other modules that the file may import, by name, each of one file.
    static func check(_ source: String, beside modules: [String: String] = [:]) throws -> (code: Int32?, text: String) {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("errand-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        for (name, source) in modules {
            let file = folder.appendingPathComponent("\(name).swift")
            try source.write(to: file, atomically: true, encoding: .utf8)
            let product = folder.appendingPathComponent("\(name).swiftmodule")
            let made = try run(
                [
                    "-emit-module", "-parse-as-library", "-module-name", name, "-emit-module-path", product.path,
                    file.path,
                ],
                in: folder)
            #expect(made.code == 0, "\(made.text)")
        }
        let file = folder.appendingPathComponent("Source.swift")
        try source.write(to: file, atomically: true, encoding: .utf8)
        let products = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
        // Clang modules that Errand imports, for itself alone.
        let core = products.path + "/CErrand.build/module.modulemap"
        let zlib = SourceTree.root.path + "/Sources/CZlib"
        return try run(
            [
                "-typecheck", "-parse-as-library", "-swift-version", "6", "-I", products.path + "/Modules",
                "-I", folder.path, "-Xcc", "-fmodule-map-file=" + core, "-I", zlib, file.path,
            ], in: folder)
    }

    private static func run(_ arguments: [String], in folder: URL) throws -> (code: Int32?, text: String) {
        let output = folder.appendingPathComponent("output")
        try Data().write(to: output)
        let run = try ProgramRun("/usr/bin/env", ["swiftc"] + arguments, output: output.path)
        let code = run.wait(seconds: 300)
        if code == nil { run.kill() }
        return (code, try String(contentsOf: output, encoding: .utf8))
    }
}
