public import Errand
import Foundation
public import FoundationXML

extension Response {
    /// The body as Foundation's document, for XPath and XQuery; ``XMLResponse`` is the lighter alternative. The
    /// document is not `Sendable`: use it only on the thread that asked for it.
    ///
    /// Throws ``/Errand/ErrandError/responseDecodingFailed`` under the same rules as ``XMLResponse``. Foundation's own
    /// parser is not strict: it repairs broken documents, reads files that entities name, and traps on an empty
    /// document.
    public func xmlDocument() throws(ErrandError) -> XMLDocument {
        let text = try XMLText(self)
        _ = try XMLTreeBuilder.tree(of: text, self)
        do {
            return try XMLDocument(data: Data(text.bytes), options: [.nodeLoadExternalEntitiesNever])
        } catch {
            throw .responseDecodingFailed.with(
                message: "the body is not an XML document: \(error)", response: self, underlying: error)
        }
    }
}
