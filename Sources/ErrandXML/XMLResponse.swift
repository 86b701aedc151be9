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
/// a document that declares its own entities is refused: such declarations could read files or fill the memory. Nesting
/// is limited to 256 levels, which is libxml2's own limit. For XPath use `Errand.Response.xmlDocument()`. This module
/// is a separate product, because FoundationXML brings libxml2 and ICU.
public struct XMLResponse: ResponseConvertible, Hashable {
    /// The outermost element.
    public let root: Element

    /// Parses the body. Throws ``/Errand/ErrandError/responseDecodingFailed`` if the body is not well-formed XML.
    public init(response: Errand.Response) throws {
        root = try XMLTreeBuilder.tree(of: XMLText(response), response)
    }
}

extension XMLResponse {
    /// A child of an element.
    public enum Node: Sendable, Hashable {
        /// An element.
        case element(Element)
        /// Text, including CDATA; white space and line ends are kept.
        case text(String)
    }

    /// An element.
    public struct Element: Sendable, Hashable {
        /// The name as written, including its prefix.
        public var name: String
        /// The attributes, by their names as written.
        public var attributes: [String: String]
        /// The child nodes in document order; comments and processing instructions are left out.
        public var children: [Node]

        /// Makes an element.
        public init(name: String, attributes: [String: String] = [:], children: [Node] = []) {
            self.name = name
            self.attributes = attributes
            self.children = children
        }

        /// The first child element with that name; `nil` if there is none.
        public subscript(name: String) -> Element? {
            for case .element(let element) in children where element.name == name { return element }
            return nil
        }

        /// The child elements.
        public var elements: [Element] {
            children.compactMap { if case .element(let element) = $0 { element } else { nil } }
        }

        /// The child elements with that name.
        public func elements(named name: String) -> [Element] {
            elements.filter { $0.name == name }
        }

        /// All text inside this element, including the text of nested elements.
        public var text: String {
            children.reduce(into: "") { text, child in
                switch child {
                case .element(let element): text += element.text
                case .text(let part): text += part
                }
            }
        }
    }
}
