/// The name of a downloaded file: one path component that is safe to create, whatever the server sends.
struct DownloadName: Sendable, Hashable {
    let text: String

    /// The usual limit of a file system, 255 bytes (`NAME_MAX`), minus the room for the suffixes of the part and its
    /// journal and for the number of ``numbered(_:)``.
    static let maximumBytes = 224

    /// The name in `Content-Disposition`, else the last segment of the URL's path, else `download`.
    init(contentDisposition: String?, url: String) {
        text =
            contentDisposition.flatMap(ContentDisposition.fileName).flatMap(Self.safe)
            ?? Self.lastSegment(url).flatMap(Self.safe) ?? "download"
    }

    /// A name that the user gave.
    init(_ text: String) {
        self.text = text
    }

    /// `report (2).tar.gz`.
    func numbered(_ number: Int) -> DownloadName {
        let (stem, fileExtension) = Self.split(text)
        return DownloadName(Self.shortened(stem, " (\(number))" + fileExtension, to: Self.maximumBytes + 12))
    }

    /// The name made safe; `nil` if nothing is left of it.
    static func safe(_ name: String) -> String? {
        // Removed first, so that removing a character later cannot join characters into a pattern checked below, such
        // as "." and "/" around a control character.
        let visible = name.unicodeScalars.filter { !isDropped($0) }
        // RFC 6266 4.3: only the last path segment; "\" is a separator on some systems that will see the file.
        let last = visible.split(omittingEmptySubsequences: false) { $0 == "/" || $0 == "\\" }.last ?? []
        let text = trimmed(last.map { isReserved($0) ? "_" : $0 })
        guard !text.isEmpty else { return nil }
        let whole = guarded(text)
        guard whole.utf8.count > maximumBytes else { return whole }
        // Shortened before the checks of `guarded`, because the cut may produce a device name or the suffix of a part.
        // Two bytes are reserved for the characters that `guarded` adds.
        let (stem, fileExtension) = split(text)
        return guarded(trimmed(shortened(stem, fileExtension, to: maximumBytes - 2).unicodeScalars))
    }

    /// Removes characters that would make "..", a hidden file, or an ending that a Windows share drops silently.
    private static func trimmed(_ scalars: some Sequence<Unicode.Scalar>) -> String {
        var rest = Array(scalars.drop(while: isTrimmed))[...]
        while let last = rest.last, isTrimmed(last) { rest.removeLast() }
        return String(String.UnicodeScalarView(rest))
    }

    /// Changes the name if it is a device name or the name of another download's part or journal.
    private static func guarded(_ name: String) -> String {
        let isOurs = [".part", ".journal", ".new"].contains(where: name.lowercased().hasSuffix)
        return (isDevice(name) ? "_" : "") + name + (isOurs ? "_" : "")
    }

    /// Control characters (C0, DEL, C1), line and paragraph separators, the byte order mark, and characters that change
    /// the text direction and so can make `exe.txt` look like `txt.exe`.
    private static func isDropped(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0..<0x20, 0x7F..<0xA0, 0x061C, 0x200B, 0x200E, 0x200F, 0x2028...0x202E, 0x2060...0x206F, 0xFEFF,
            0xFFF9...0xFFFB:
            true
        default: false
        }
    }

    /// Characters that FAT, NTFS and SMB do not allow in names.
    private static func isReserved(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case "<", ">", ":", "\"", "|", "?", "*": true
        default: false
        }
    }

    private static func isTrimmed(_ scalar: Unicode.Scalar) -> Bool {
        scalar == "." || scalar.properties.isWhitespace
    }

    /// Device names on Windows, with any extension.
    private static func isDevice(_ text: String) -> Bool {
        let name = text.prefix { $0 != "." }.lowercased()
        if ["con", "prn", "aux", "nul"].contains(name) { return true }
        return name.utf8.count == 4 && (name.hasPrefix("com") || name.hasPrefix("lpt"))
            && name.utf8.last.map { (0x30...0x39).contains($0) } == true
    }

    /// The stem and the extension with its dot; `.tar.gz` is one extension. The extension is empty if there is none.
    private static func split(_ name: String) -> (stem: String, fileExtension: String) {
        let scalars = name.unicodeScalars
        guard let dot = scalars.lastIndex(of: "."), dot > scalars.startIndex else { return (name, "") }
        var (stem, fileExtension) = (String(scalars[..<dot]), String(scalars[dot...]))
        // A longer ending is a sentence with a full stop, not an extension.
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
        return PercentEncoding.decodedStrictly(segment).flatMap { String(validating: $0, as: UTF8.self) }
    }
}
