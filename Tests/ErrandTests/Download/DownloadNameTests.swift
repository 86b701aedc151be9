import Errand
import ErrandTesting
import Testing

@testable import ErrandDownloads

@Suite struct DownloadNameTests {
    @Test(
        arguments: [
            ("attachment; filename=example.html", "example.html"),
            ("INLINE; FILENAME= \"an example.html\"", "an example.html"),
            ("attachment; filename=\"a \\\"quoted\\\" name.txt\"", "a \"quoted\" name.txt"),
            ("attachment; filename*= UTF-8''%e2%82%ac%20rates", "€ rates"),
            ("attachment; filename=\"EURO rates\"; filename*=utf-8''%e2%82%ac%20rates", "€ rates"),
            ("attachment; filename*=utf-8'en'%e2%82%ac; filename=\"EURO\"", "€"),
            ("attachment; filename*=iso-8859-1'de'f%FCr", "für"),
            ("attachment; filename=plain; filename*=utf-8''%ff%fe", "plain"),
            ("attachment; filename=plain; filename*=utf-8''%zz", "plain"),
            ("attachment; filename=plain; filename*=koi8-r''%c1", "plain"),
            ("attachment; filename=plain; filename*=utf-8'", "plain"),
            ("attachment; filename=first; filename=second", "first"),
            ("attachment; filename=two words.txt ; x=y", "two words.txt"),
            ("attachment; x=\"; filename=no\"; filename=yes", "yes"),
            ("filename=alone.txt", "alone.txt"),
            ("attachment;;; ; filename = spaced", "spaced"),
            ("attachment; filename=\"a%20b\"", "a%20b"),
            ("attachment", nil), ("", nil), ("attachment; filename", nil), ("attachment; filename=\"open", nil),
            ("attachment; filename=\"open\\", nil), ("attachment; filename*=\"", nil), (";=;=", nil),
        ] as [(String, String?)])
    func rfc6266_4_names(value: String, expected: String?) {
        #expect(ContentDisposition.fileName(in: value) == expected)
    }

    @Test(
        arguments: [
            ("report.pdf", "report.pdf"), ("../../etc/passwd", "passwd"), ("C:\\temp\\x.txt", "x.txt"), ("a/", nil),
            (".", nil), ("..", nil), ("...", nil), (".bashrc", "bashrc"), (". .x", "x"), ("x.txt. .", "x.txt"),
            ("", nil),
            ("  ", nil), ("a\u{0}b\r\nc\u{7F}\u{85}.txt", "abc.txt"), (".\u{1}./x", "x"), ("\u{1}.\u{202E}.", nil),
            ("photo\u{202E}gpj.exe", "photogpj.exe"), ("\u{2067}a\u{2069}\u{200F}.txt", "a.txt"),
            ("a<b>c:d\"e|f?g*h", "a_b_c_d_e_f_g_h"), ("CON", "_CON"), ("nul.txt", "_nul.txt"),
            ("com7.tar.gz", "_com7.tar.gz"),
            ("lptx", "lptx"), ("com10", "com10"), ("file.part", "file.part_"),
            ("file.PART.journal", "file.PART.journal_"),
            ("日本語.txt", "日本語.txt"),
        ] as [(String, String?)])
    func safety(name: String, expected: String?) {
        #expect(DownloadName.safe(name) == expected)
    }

    @Test(
        arguments: [
            ("http://h/a/b.txt?x=/y#/z", "b.txt"), ("http://h/a%20b%2Fc.txt", "c.txt"), ("http://h/", "download"),
            ("http://h", "download"), ("http://h/a/..", "download"), ("http://h/%2e%2e", "download"),
            ("http://h/%ff", "download"), ("http://h/%zz", "download"), ("http://h/%E2%82%AC.txt", "€.txt"),
            ("", "download"), ("http://h/.hidden", "hidden"),
        ])
    func theURLsLastSegment(url: String, expected: String) {
        #expect(DownloadName(contentDisposition: nil, url: url).text == expected)
        #expect(DownloadName(contentDisposition: "attachment; filename=\"../\"", url: url).text == expected)
        #expect(DownloadName(contentDisposition: "attachment; filename=x", url: url).text == "x")
    }

    @Test func longNamesKeepTheirExtension() throws {
        for stem in [
            String(repeating: "a", count: 300), String(repeating: "€", count: 100),
            "CON." + String(repeating: "é", count: 400),
        ] {
            let name = try #require(DownloadName.safe(stem + ".tar.gz"))
            #expect(name.utf8.count <= DownloadName.maximumBytes && name.utf8.count > DownloadName.maximumBytes - 6)
            #expect(name.hasSuffix(".tar.gz"))
        }
        let endless = try #require(DownloadName.safe("a." + String(repeating: "b", count: 400)))
        #expect(endless.utf8.count == DownloadName.maximumBytes - 2)
    }

    @Test func numbers() {
        #expect(DownloadName("a.txt").numbered(1).text == "a (1).txt")
        #expect(DownloadName("a.tar.gz").numbered(12).text == "a (12).tar.gz")
        #expect(DownloadName("a").numbered(3).text == "a (3)")
        #expect(DownloadName(".x").numbered(3).text == ".x (3)")
        let long = DownloadName(String(repeating: "a", count: 250) + ".txt").numbered(9999).text
        #expect(long.hasSuffix(" (9999).txt") && long.utf8.count <= 255 - ".part.journal.new".utf8.count)
    }

    /// Whatever comes, what goes is one component that names no other place and no other download's part.
    @Test(arguments: 1...8 as ClosedRange<UInt64>) func nothingUnsafeComesOut(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let words = [
            "..", "/", "\\", ".", "\u{202E}", "\u{0}", "a", "é", "€", "😀", " ", "%2e", "%2F", "%", "\"", ";",
            "filename=",
            "filename*=", "utf-8''", "attachment", "CON", ".part", ".journal", "\u{FEFF}", "\u{2066}", "'", "=", "~",
        ]
        for _ in 0..<1000 {
            let text = (0..<Int.random(in: 0...12, using: &random)).map { _ in
                String(repeating: words.randomElement(using: &random) ?? "", count: random.next() % 50 == 0 ? 200 : 1)
            }.joined()
            let name = DownloadName(contentDisposition: text, url: "http://h/" + text).text
            #expect(!name.isEmpty && name.utf8.count <= 255 && !name.hasPrefix("."), "\(text.debugDescription)")
            #expect(!name.unicodeScalars.contains { $0 == "/" || $0 == "\\" || $0.value < 0x20 || $0.value == 0x202E })
            #expect(![".part", ".journal"].contains(where: name.lowercased().hasSuffix), "\(text.debugDescription)")
            if let safe = DownloadName.safe(text) {
                #expect(DownloadName.safe(safe) == safe, "\(text.debugDescription)")
            }
        }
    }
}
