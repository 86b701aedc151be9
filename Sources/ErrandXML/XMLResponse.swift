public import Errand

/// A response body read as XML: what a command's `Response` may be.
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
/// A value without libxml2 behind it, so it may cross threads. Nothing that a document names is ever loaded, and one
/// that declares entities of its own is refused: that is how files are read and memory is filled through XML. Nesting is
/// bounded to 256 levels, libxml2's own limit. For XPath there is `Errand.Response.xmlDocument()`. A product of its
/// own, because FoundationXML brings libxml2 and ICU.
public struct XMLResponse: ResponseConvertible, Hashable {
    /// The outermost element.
    public let root: Element

    /// Reads the body. Throws ``/Errand/ErrandError/responseDecodingFailed`` for what is not well-formed XML.
    public init(response: Errand.Response) throws {
        root = try XMLTreeBuilder.tree(of: XMLText(response), response)
    }
}
