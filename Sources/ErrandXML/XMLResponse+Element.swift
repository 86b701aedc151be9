extension XMLResponse {
    /// What an element holds, in its order.
    public enum Node: Sendable, Hashable {
        /// An element.
        case element(Element)
        /// Text, CDATA included, blanks and line ends as they are.
        case text(String)
    }

    /// An element.
    public struct Element: Sendable, Hashable {
        /// The name as it is written, with its prefix.
        public var name: String
        /// The attributes by their names as they are written.
        public var attributes: [String: String]
        /// What it holds; comments and processing instructions are left out.
        public var children: [Node]

        /// Makes an element.
        public init(name: String, attributes: [String: String] = [:], children: [Node] = []) {
            self.name = name
            self.attributes = attributes
            self.children = children
        }

        /// The first child element of that name; `nil` for none.
        public subscript(name: String) -> Element? {
            for case .element(let element) in children where element.name == name { return element }
            return nil
        }

        /// The child elements.
        public var elements: [Element] {
            children.compactMap { if case .element(let element) = $0 { element } else { nil } }
        }

        /// The child elements of that name.
        public func elements(named name: String) -> [Element] {
            elements.filter { $0.name == name }
        }

        /// All text inside, that of the elements within it included.
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
