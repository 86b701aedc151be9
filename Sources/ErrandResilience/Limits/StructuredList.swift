/// A list of items with parameters in the syntax of structured fields (RFC 9651 3.1). Only a subset is read: inner
/// lists and display strings (`%"..."`) count as malformed.
struct StructuredList: Sendable, Hashable {
    enum Value: Sendable, Hashable {
        case integer(Int64)
        case decimal(Double)
        case string(String)
        case token(String)
        /// In base64, as in the field.
        case bytes(String)
        case boolean(Bool)
        /// Seconds since 1970.
        case date(Int64)
    }

    struct Item: Sendable, Hashable {
        let value: Value
        /// If several parameters have the same name, the last one counts (RFC 9651 4.2.3.2).
        var parameters: [String: Value] = [:]

        /// A parameter that is a whole number from 0.
        func count(_ name: String) -> Int64? {
            if case .integer(let number)? = parameters[name], number >= 0 { number } else { nil }
        }
    }

    /// At most this many items are read; a longer list is malformed.
    static let capacity = 64

    private(set) var items: [Item] = []

    /// Reads the values of a field, which make one list (RFC 9651 4.2). `nil`: malformed, which means that the whole
    /// field is ignored.
    init?(_ values: [String]) {
        var scanner = FieldScanner(values.filter { !$0.isEmpty }.joined(separator: ","))
        scanner.skip { $0 == 0x20 }
        while !scanner.isAtEnd {
            guard items.count < Self.capacity, let item = Self.item(&scanner) else { return nil }
            items.append(item)
            scanner.skipBlanks()
            if scanner.isAtEnd { break }
            guard scanner.take(",") else { return nil }
            scanner.skipBlanks()
            guard !scanner.isAtEnd else { return nil }
        }
    }

    private static func item(_ scanner: inout FieldScanner) -> Item? {
        guard let value = value(&scanner) else { return nil }
        var item = Item(value: value)
        while scanner.take(";") {
            scanner.skip { $0 == 0x20 }
            guard let name = key(&scanner) else { return nil }
            guard scanner.take("=") else {
                item.parameters[name] = .boolean(true)
                continue
            }
            guard let value = Self.value(&scanner) else { return nil }
            item.parameters[name] = value
        }
        return item
    }

    /// RFC 9651 4.2.3.3.
    private static func key(_ scanner: inout FieldScanner) -> String? {
        let start = scanner.position
        if !scanner.take("*") {
            guard let first = scanner.text(while: { (0x61...0x7A).contains($0) }), !first.isEmpty else { return nil }
        }
        scanner.skip { byte in
            switch byte {
            case 0x30...0x39, 0x61...0x7A, 0x5F, 0x2D, 0x2E, 0x2A: true
            default: false
            }
        }
        return scanner.text(from: start)
    }

    /// RFC 9651 4.2.3.1.
    private static func value(_ scanner: inout FieldScanner) -> Value? {
        if scanner.isNext("\"") { return string(&scanner).map { .string($0) } }
        if scanner.take("?") {
            if scanner.take("1") { return .boolean(true) }
            return scanner.take("0") ? .boolean(false) : nil
        }
        if scanner.take(":") {
            let text = scanner.text { byte in
                switch byte {
                case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2B, 0x2F, 0x3D: true
                default: false
                }
            }
            return scanner.take(":") ? .bytes(text ?? "") : nil
        }
        if scanner.take("@") {
            if case .integer(let seconds)? = number(&scanner) { return .date(seconds) }
            return nil
        }
        return token(&scanner).map { .token($0) } ?? number(&scanner)
    }

    /// RFC 9651 4.2.4: at most 15 digits, or 12 before and 3 after the point.
    private static func number(_ scanner: inout FieldScanner) -> Value? {
        let isDigit = { (byte: UInt8) in (0x30...0x39).contains(byte) }
        let sign: Int64 = scanner.take("-") ? -1 : 1
        guard let whole = scanner.text(while: isDigit), whole.utf8.count <= 15, let number = Int64(whole) else {
            return nil
        }
        guard scanner.take(".") else { return .integer(sign * number) }
        guard whole.utf8.count <= 12, let part = scanner.text(while: isDigit), part.utf8.count <= 3,
            let decimal = Double("\(whole).\(part)")
        else { return nil }
        return .decimal(Double(sign) * decimal)
    }

    /// RFC 9651 4.2.5: printable ASCII; a backslash stands only before a quote or another backslash.
    private static func string(_ scanner: inout FieldScanner) -> String? {
        let start = scanner.position
        guard let quoted = scanner.quoted(), quoted.isClosed,
            quoted.text.utf8.allSatisfy({ (0x20...0x7E).contains($0) })
        else { return nil }
        var isEscaped = false
        for byte in scanner.text(from: start).utf8.dropFirst().dropLast() {
            if isEscaped {
                guard byte == UInt8(ascii: "\\") || byte == UInt8(ascii: "\"") else { return nil }
                isEscaped = false
            } else {
                isEscaped = byte == UInt8(ascii: "\\")
            }
        }
        return quoted.text
    }

    /// RFC 9651 4.2.6.
    private static func token(_ scanner: inout FieldScanner) -> String? {
        let start = scanner.position
        if !scanner.take("*") {
            guard scanner.text(while: { (0x61...0x7A).contains($0 | 0x20) }) != nil else { return nil }
        }
        scanner.skip { FieldTokens.isTokenByte($0) || $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: "/") }
        return scanner.text(from: start)
    }
}
