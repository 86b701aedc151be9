import Errand
import Foundation
import FoundationXML

/// The parser's delegate, which builds the tree. Used on one thread, for one document.
final class XMLTreeBuilder: XMLParserDelegate {
    /// libxml2's own limit for documents (`xmlParserMaxDepth`).
    static let maximumDepth = 256

    /// The elements that are still open, the root first.
    private var open: [XMLResponse.Element] = []
    private var root: XMLResponse.Element?
    /// The text since the last tag. The parser delivers text in parts, at least one for each entity.
    private var text = ""
    private var failure: XMLFailure?

    /// Returns the tree of a document. Throws `responseDecodingFailed` if the document is not well-formed.
    static func tree(of text: XMLText, _ response: Response) throws(ErrandError) -> XMLResponse.Element {
        let parser = XMLParser(data: Data(text.bytes))
        parser.shouldResolveExternalEntities = false
        parser.externalEntityResolvingPolicy = .never
        let builder = XMLTreeBuilder()
        parser.delegate = builder
        // Foundation's parser returns success even if the end is missing or if content follows the root element. The
        // document is accepted only if the parser reported no error and exactly one root element was opened and closed.
        let isParsed = parser.parse()
        if builder.failure == nil, isParsed, builder.open.isEmpty, let root = builder.root { return root }
        let failure = builder.failure ?? XMLFailure(line: parser.lineNumber, column: parser.columnNumber, code: nil)
        throw .responseDecodingFailed.with(
            message: "the body is not well-formed XML: \(failure)", response: response, underlying: failure)
    }

    func parser(
        _ parser: XMLParser, didStartElement name: String, namespaceURI: String?, qualifiedName: String?,
        attributes: [String: String]
    ) {
        guard failure == nil else { return }
        flushText()
        guard open.count < Self.maximumDepth else {
            failure = XMLFailure(line: parser.lineNumber, column: parser.columnNumber, code: nil, isTooDeep: true)
            parser.abortParsing()
            return
        }
        open.append(XMLResponse.Element(name: name, attributes: attributes))
    }

    func parser(_ parser: XMLParser, didEndElement name: String, namespaceURI: String?, qualifiedName: String?) {
        guard failure == nil else { return }
        flushText()
        guard let element = open.popLast() else { return }
        if open.isEmpty { root = element } else { add(.element(element)) }
    }

    func parser(_ parser: XMLParser, foundCharacters text: String) {
        if failure == nil { self.text += text }
    }

    func parser(_ parser: XMLParser, foundCDATA block: Data) {
        if failure == nil { text += String(decoding: block, as: UTF8.self) }
    }

    func parser(_ parser: XMLParser, parseErrorOccurred error: any Error) {
        guard failure == nil else { return }
        failure = XMLFailure(line: parser.lineNumber, column: parser.columnNumber, code: (error as NSError).code)
        parser.abortParsing()
    }

    /// Called at each tag, so that text on both sides of a comment becomes one node.
    private func flushText() {
        guard !text.isEmpty else { return }
        add(.text(text))
        text = ""
    }

    private func add(_ node: XMLResponse.Node) {
        guard let last = open.indices.last else { return }
        open[last].children.append(node)
    }
}

/// The position where a document is not well-formed: the `underlyingError` of `responseDecodingFailed`.
public struct XMLFailure: Error, Sendable, Hashable, CustomStringConvertible {
    /// The line, counted from 1.
    public let line: Int
    /// The column, counted from 1 as in libxml2.
    public let column: Int
    /// libxml2's error number (`xmlParserErrors`); `nil` if the document is too deep or ends too early.
    public let code: Int?
    /// Whether the document has more than 256 levels.
    public let isTooDeep: Bool

    init(line: Int, column: Int, code: Int?, isTooDeep: Bool = false) {
        self.line = line
        self.column = column
        self.code = code
        self.isTooDeep = isTooDeep
    }

    /// `error 76 at line 1, column 11`.
    public var description: String {
        let problem =
            isTooDeep
            ? "more than \(XMLTreeBuilder.maximumDepth) nested levels"
            : code.map { "error \($0)" } ?? "unexpected end of the document"
        return "\(problem) at line \(line), column \(column)"
    }
}
