import Errand
import Foundation

/// One `errand download`, from the client to the exit code.
struct DownloadSession {
    let download: Errand.Download
    let connection: ConnectionOptions
    let isQuiet: Bool

    func run() async throws {
        let bar = DownloadBar(isShown: !isQuiet)
        var configuration = Client.Configuration(connection: connection)
        configuration.loops = 1
        configuration.userAgent = nil
        if !isQuiet { configuration.accessories = [ProgressAccessory(.download) { bar.show($0) }] }
        let client = Client(configuration: configuration)
        let started = MonotonicTime.now
        let task = Task { try await client.run(download) }
        // Stopped, not killed: what came is made safe first. A second one ends the process, and loses 1 MB at most.
        let interrupt = Interrupt { task.cancel() }
        let result = await task.result
        interrupt.end()
        bar.end()
        await client.shutdown(.cancel)
        do {
            let file = try result.get()
            if !isQuiet { StandardError.print(Self.summary(file, nanoseconds: MonotonicTime.now - started)) }
        } catch is CancellationError {
            throw ToolError(.interrupted, "interrupted; the same command goes on with what is there")
        }
    }

    private static func summary(_ file: DownloadedFile, nanoseconds: UInt64) -> String {
        let seconds = Double(nanoseconds) / 1e9
        var text = "saved \(OutcomeTable.printable(file.path)): \(file.byteCount.grouped) bytes in \(seconds.text(1)) s"
        if file.resumedFrom > 0 { text += ", \(file.resumedFrom.grouped) of them from before" }
        if let digest = file.sha256 { text += ", sha256 \(digest)" }
        return text
    }
}
