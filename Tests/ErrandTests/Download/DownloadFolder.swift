import Errand
import ErrandTesting
import Foundation

@testable import ErrandDownloads

/// A directory of its own, removed with its owner.
final class DownloadFolder: Sendable {
    let path: String

    init() throws {
        var template = Array("/tmp/errand-download-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw POSIXError(.EIO) }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }

    func paths(_ name: String = "file.bin") throws -> DownloadPaths {
        try DownloadPaths(destination: path + "/" + name)
    }

    func bytes(_ name: String) -> [UInt8]? {
        FileManager.default.contents(atPath: path + "/" + name).map(Array.init)
    }

    func journal(_ name: String = "file.bin") -> DownloadJournal? {
        bytes(name + ".part.journal").flatMap { DownloadJournalFile.decode($0) }
    }

    func write(_ bytes: [UInt8], _ name: String) {
        _ = FileManager.default.createFile(atPath: path + "/" + name, contents: Data(bytes))
    }

    /// Bytes that the disk has for a file, written or not.
    func allocated(_ name: String) -> Int64? {
        var status = stat()
        guard stat(path + "/" + name, &status) == 0 else { return nil }
        return Int64(status.st_blocks) * 512
    }

    var names: [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).sorted()
    }
}

/// Bytes that tell where they belong: a block of a prime length, over and over.
enum DownloadContent {
    private static let block: [UInt8] = {
        var random = SeededGenerator(seed: 1)
        return (0..<65_521).map { _ in UInt8(truncatingIfNeeded: random.next()) }
    }()

    static func bytes(_ range: Range<Int64>) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(range.count)
        var position = range.lowerBound
        while position < range.upperBound {
            let first = Int(position % Int64(block.count))
            let count = min(block.count - first, Int(range.upperBound - position))
            bytes += block[first..<first + count]
            position += Int64(count)
        }
        return bytes
    }
}

extension PartFile {
    mutating func write(_ bytes: [UInt8], at offset: Int64) throws {
        try bytes.withUnsafeBytes { try write($0, at: offset) }
    }
}
