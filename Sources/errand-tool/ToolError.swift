import ArgumentParser
import Errand
import Foundation

/// A failure that ends the tool: its message on standard error, and its exit code.
struct ToolError: Error {
    let status: ExitStatus
    let message: String

    init(_ status: ExitStatus, _ message: String) {
        self.status = status
        self.message = message
    }

    init(_ error: ErrandError) {
        self.init(ExitStatus(error), ToolError.text(error))
    }

    init(_ failure: FetchResult.Failure) {
        self.init(failure.exit, failure.message)
    }

    /// `resolveFailed: Could not resolve host: example.invalid (curl 6)`, followed by an option that may help, if there
    /// is one.
    static func text(_ error: ErrandError) -> String {
        let status = ExitStatus(error)
        var text = "\(error.shortDescription): "
        // When the engine itself ended the transfer, libcurl's message only says that the transfer was aborted.
        text += status.isOurs ? fixedText(error) : error.message
        if let curlCode = error.curlCode, !status.isOurs { text += " (curl \(curlCode))" }
        if let number = error.systemErrorCode {
            let reason = SystemError(Int32(clamping: number)).text
            if !text.hasSuffix(reason) { text += " (\(reason))" }
        }
        return text + (option(for: error).map { "; see \($0)" } ?? "")
    }

    /// The option that would have avoided the failure.
    private static func option(for error: ErrandError) -> String? {
        switch error {
        case .timeoutConnect: "--connect-timeout"
        case .timeoutFirstByte: "--first-byte-timeout"
        case .timeoutIdle: "--idle-timeout"
        case .timeoutTotal, .deadlineExceeded: "--timeout"
        case .limitBodyBytes, .limitDecodedBytes: "--max-body"
        case .tooManyRedirects: "--max-redirects"
        case .tlsUntrusted: "--cacert"
        case .fileExists where error.message.hasSuffix("already exists"): "--overwrite and --no-clobber"
        default: nil
        }
    }

    /// The text for an error of a URL from the command line. If the URL cannot be sent, the text suggests a corrected
    /// URL.
    static func text(_ error: ErrandError, of url: String) -> String {
        let text = text(error)
        guard error == .invalidURL || error == .unsupportedScheme, let meant = URLArgument.suggestion(for: url) else {
            return text
        }
        return text + "; did you mean \(Shown.url(meant))?"
    }

    /// The fixed sentence of the error's kind, without details of the transfer.
    private static func fixedText(_ error: ErrandError) -> String {
        let kinds: [ErrandError] = [
            .timeoutQueue, .timeoutConnect, .timeoutFirstByte, .timeoutIdle, .timeoutTotal, .deadlineExceeded,
            .limitHeaderBytes, .limitHeaderCount, .limitBodyBytes, .limitDecodedBytes,
        ]
        return kinds.first { $0 == error }?.message ?? error.message
    }

    /// Foundation's description of an error, without domain and user info.
    static func reason(_ error: any Error) -> String {
        let cocoa = error as NSError
        if let beneath = cocoa.userInfo[NSUnderlyingErrorKey] as? NSError, beneath.domain == NSPOSIXErrorDomain {
            return SystemError(Int32(beneath.code)).text
        }
        if let debug = cocoa.userInfo[NSDebugDescriptionErrorKey] as? String { return debug }
        return cocoa.localizedDescription
    }

    /// Runs the work of a subcommand. An error that `body` throws is printed once, in one format, and becomes the exit
    /// code.
    ///
    /// - Parameter url: The URL that the work concerns, if there is exactly one.
    static func reporting<Value>(of url: String? = nil, _ body: () async throws -> Value) async throws -> Value {
        // Standard output may be a pipe whose reader has closed it. This must be a write error, and must not end the
        // process.
        signal(SIGPIPE, SIG_IGN)
        do {
            return try await body()
        } catch let error as ToolError {
            if error.status != .brokenPipe { StandardError.print("errand: \(error.message)") }
            throw error.status.code
        } catch let error as ErrandError {
            StandardError.print("errand: \(url.map { text(error, of: $0) } ?? text(error))")
            throw ExitStatus(error).code
        }
    }
}
