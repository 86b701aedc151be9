public import Errand

/// A response body parsed as XML. Can be used as the `Response` of a command.
///
/// ```swift
/// struct GetFeed: Command {
///     var path = "feed.xml"
///     typealias Response = XMLResponse
/// }
/// let feed = try await client.run(GetFeed())
/// let titles = feed.root["channel"]?.elements(named: "item").compactMap { $0["title"]?.text }
/// ```
///
/// The value does not refer to libxml2, so it may cross threads. External entities and documents are never loaded, and
/// a document that declares entities of its own is refused: such declarations could read files or fill the memory.
/// Nesting is limited to 256 levels, which is libxml2's own limit. For XPath use `Errand.Response.xmlDocument()`. This
/// module is a product of its own, because FoundationXML brings libxml2 and ICU.
public struct XMLResponse: ResponseConvertible, Hashable {
    /// The outermost element.
    public let root: Element

    /// Parses the body. Throws ``/Errand/ErrandError/responseDecodingFailed`` where the body is not well-formed XML.
    public init(response: Errand.Response) throws {
        root = try XMLTreeBuilder.tree(of: XMLText(response), response)
    }
}
