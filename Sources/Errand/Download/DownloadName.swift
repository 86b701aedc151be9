/// The name of a downloaded file: one path component that is safe to create, whatever the server says.
struct DownloadName: Sendable, Hashable {
    let text: String

    /// A file system's usual 255 bytes (`NAME_MAX`) less the room for what the part and its journal are called while the
    /// download runs, and for the number of ``numbered(_:)``.
    static let maximumBytes = 224

    /// What `Content-Disposition` says, else the last segment of the URL's path, else `download`.
    init(contentDisposition: String?, url: String) {
        text =
            contentDisposition.flatMap(ContentDisposition.fileName).flatMap(Self.safe)
            ?? Self.lastSegment(url).flatMap(Self.safe) ?? "download"
    }

    /// The name that a user gave.
    init(_ text: String) {
        self.text = text
    }

    /// `report (2).tar.gz`.
    func numbered(_ number: Int) -> DownloadName {
        let (stem, fileExtension) = Self.split(text)
        return DownloadName(Self.shortened(stem, " (\(number))" + fileExtension, to: Self.maximumBytes + 12))
    }

    /// The same name made safe; `nil` where nothing is left of it.
    static func safe(_ name: String) -> String? {
        // First, so that nothing that is taken out joins what is looked for below: "." and "/" around a control character.
        let visible = name.unicodeScalars.filter { !isDropped($0) }
        // RFC 6266 4.3: the last path segment alone; "\" separates for some who will see the file.
        let last = visible.split(omittingEmptySubsequences: false) { $0 == "/" || $0 == "\\" }.last ?? []
        var scalars = last.map { isReserved($0) ? "_" : $0 }[...]
        // "..", hidden files, and endings that a share on Windows drops silently.
        while let first = scalars.first, isTrimmed(first) { scalars.removeFirst() }
        while let last = scalars.last, isTrimmed(last) { scalars.removeLast() }
        guard !scalars.isEmpty else { return nil }
        var text = String(String.UnicodeScalarView(scalars))
        let (stem, fileExtension) = split(text)
        if isDevice(stem) { text = "_" + text }
        // Another download's part or journal.
        if [".part", ".journal", ".new"].contains(where: text.lowercased().hasSuffix) { text += "_" }
        return text.utf8.count <= maximumBytes ? text : shortened(stem, fileExtension, to: maximumBytes)
    }

    /// Controls (C0, DEL, C1), line and paragraph separators, the byte order mark, and what turns the direction of text, so
    /// that `exe.txt` can stand for `txt.exe`.
    private static func isDropped(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0..<0x20, 0x7F..<0xA0, 0x061C, 0x200B, 0x200E, 0x200F, 0x2028...0x202E, 0x2060...0x206F, 0xFEFF,
            0xFFF9...0xFFFB:
            true
        default: false
        }
    }

    /// Not to be had in names on FAT, NTFS and SMB.
    private static func isReserved(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case "<", ">", ":", "\"", "|", "?", "*": true
        default: false
        }
    }

    private static func isTrimmed(_ scalar: Unicode.Scalar) -> Bool {
        scalar == "." || scalar.properties.isWhitespace
    }

    /// Devices on Windows, with any extension.
    private static func isDevice(_ stem: String) -> Bool {
        let name = stem.prefix { $0 != "." }.lowercased()
        if ["con", "prn", "aux", "nul"].contains(name) { return true }
        return name.utf8.count == 4 && (name.hasPrefix("com") || name.hasPrefix("lpt"))
            && name.utf8.last.map { (0x30...0x39).contains($0) } == true
    }

    /// The extension has its dot; `.tar.gz` is one. Without an extension it is empty.
    private static func split(_ name: String) -> (stem: String, fileExtension: String) {
        let scalars = name.unicodeScalars
        guard let dot = scalars.lastIndex(of: "."), dot > scalars.startIndex else { return (name, "") }
        var (stem, fileExtension) = (String(scalars[..<dot]), String(scalars[dot...]))
        // More is a sentence with a full stop in it.
        guard fileExtension.utf8.count <= 32 else { return (name, "") }
        if stem.lowercased().hasSuffix(".tar"), stem.utf8.count > 4 {
            fileExtension = stem.unicodeScalars.suffix(4).map(String.init).joined() + fileExtension
            stem = String(String.UnicodeScalarView(stem.unicodeScalars.dropLast(4)))
        }
        return (stem, fileExtension)
    }

    private static func shortened(_ stem: String, _ ending: String, to limit: Int) -> String {
        var room = limit - ending.utf8.count
        let kept = stem.unicodeScalars.prefix { scalar in
            room -= UTF8.width(scalar)
            return room >= 0
        }
        return String(kept) + ending
    }

    private static func lastSegment(_ url: String) -> String? {
        let path = URLReference(url).path.utf8
        let segment = path.lastIndex(of: UInt8(ascii: "/")).map { path[path.index(after: $0)...] } ?? path[...]
        return ContentDisposition.decodingPercents(segment).flatMap { String(validating: $0, as: UTF8.self) }
    }
}
