import ArgumentParser
import Errand
import Foundation

/// A failure that ends the tool: what it says on standard error, and its exit code.
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

    /// `timeoutIdle: no bytes moved for too long`.
    static func text(_ error: ErrandError) -> String {
        error.description
    }

    /// Foundation's own words for an error, without its domain and user info.
    static func reason(_ error: any Error) -> String {
        let cocoa = error as NSError
        if let beneath = cocoa.userInfo[NSUnderlyingErrorKey] as? NSError, beneath.domain == NSPOSIXErrorDomain {
            return String(cString: strerror(Int32(beneath.code)))
        }
        if let debug = cocoa.userInfo[NSDebugDescriptionErrorKey] as? String { return debug }
        return cocoa.localizedDescription
    }

    /// Runs a subcommand's work: what it throws is printed once, in one form, and becomes the exit code.
    static func reporting(_ body: () async throws -> Void) async throws {
        do {
            try await body()
        } catch let error as ToolError {
            StandardError.print("errand: \(error.message)")
            throw error.status.code
        } catch let error as ErrandError {
            StandardError.print("errand: \(text(error))")
            throw ExitStatus(error).code
        }
    }
}
