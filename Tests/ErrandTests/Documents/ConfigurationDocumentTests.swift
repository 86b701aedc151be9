import ErrandConfigurationKeys
import Foundation
import Testing

/// `docs/configuration.md` ends in the table of keys.
@Suite struct ConfigurationDocumentTests {
    private static let path = "docs/configuration.md"

    @Test func theTableIsThatOfTheCode() throws {
        var lines = try SourceTree.text(Self.path).components(separatedBy: "\n")
        let start = try #require(lines.firstIndex { $0.hasPrefix("| key | ") })
        let table = ConfigurationKey.table + [""]
        if ProcessInfo.processInfo.environment["ERRAND_WRITE_DOCS"] == "1" {
            lines = Array(lines[..<start]) + table
            try SourceTree.write(lines.joined(separator: "\n"), to: Self.path)
        }
        let written = lines[start...]
        for (offset, (found, expected)) in zip(written, table).enumerated() {
            #expect(found == expected, "\(Self.path):\(start + offset + 1)")
        }
        #expect(written.count == table.count)
    }

    /// A name stands once, and no name is the scope of another one: JSON could not have both.
    @Test func namesAreKeys() {
        let names = ConfigurationKey.all.map(\.name)
        #expect(names.count > 150 && Set(names).count == names.count)
        #expect(names.allSatisfy { name in !names.contains { $0.hasPrefix(name + ".") } })
        for key in ConfigurationKey.all {
            #expect(key.meaning.hasSuffix(".") && !key.meaning.contains("|"), "\(key.name)")
            #expect(!key.defaultText.isEmpty && !key.valuesText.isEmpty, "\(key.name)")
            if case .choice(let words) = key.kind {
                #expect(words.contains(key.defaultText), "\(key.name)")
            } else if key.defaultText == "none" {
                #expect(key.allowsNone, "\(key.name)")
            }
        }
        let secrets = ConfigurationKey.all.filter(\.isSecret).map(\.name)
        #expect(secrets.contains("authorization.token") && secrets.contains("tls.clientKeyPassword"))
    }
}
