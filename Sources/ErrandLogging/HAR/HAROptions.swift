/// Which parts of a transfer are kept, and how.
package struct HAROptions: Sendable {
    /// The most bytes of a body.
    package var bodyLimit: Int
    /// Whether files that are sent are read, on the thread that starts the request.
    package var readsFiles: Bool
    /// The secrets to hide.
    package var redaction: Redaction
    /// The secrets to hide in bodies.
    package var bodyRedaction: Redaction
    /// The words that replace secrets; `nil`: one word for all.
    package var pseudonyms: Pseudonyms?

    package init(
        bodyLimit: Int, readsFiles: Bool, redaction: Redaction, bodyRedaction: Redaction? = nil,
        pseudonyms: Pseudonyms? = nil
    ) {
        self.bodyLimit = max(0, bodyLimit)
        self.readsFiles = readsFiles
        self.redaction = redaction
        self.bodyRedaction = bodyRedaction ?? redaction
        self.pseudonyms = pseudonyms
    }
}
