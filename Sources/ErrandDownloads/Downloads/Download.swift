public import HTTPTypes

/// A file to fetch: bytes go from the socket to `name.part` beside the destination, with a journal that says what of them
/// is safe, and the file takes its name when it is complete. It is resumed by itself: after a broken connection within a
/// run, and after a stop, a crash or a loss of power by the next run with the same URL and destination.
///
/// ```swift
/// var download = Download("http://127.0.0.1:8080/big.iso", to: .directory("/var/tmp"))
/// download.sha256 = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
/// let file = try await client.run(download)
/// print(file.path, file.byteCount)
/// ```
///
/// A command as any other: started, stopped, paused, watched (``AnyRequest/onProgress(_:)`` counts the whole file, what
/// was there already included), put into a ``Batch``. Redirects, interceptors and authentication act as always; a
/// response that is neither the content nor a part of it is judged as any response is. What is there when a run ends
/// otherwise than well is kept for the next one, except where the digest was wrong. Never cached.
///
/// GET alone. The body is asked for without content encoding, unless ``acceptsEncodings`` says otherwise. Where it comes
/// with one all the same, it is decoded if ``ConnectionOptions/encodings`` were said to be some, and else kept as it is; it
/// cannot be resumed then. ``Limits/bodyBytes`` counts only where the command, an override or the client's settings give it, for each
/// transfer. ``Timeouts/total`` is for
/// everything together, the other timeouts for each transfer. Nothing of a body is kept in memory but what is on its way to
/// the disk, at most 256 KiB a connection; all work on files is done on a queue of the download's own.
///
/// Beside the errors of any request: ``ErrandError/diskFull``, ``ErrandError/directoryMissing``,
/// ``ErrandError/fileAccessDenied``, ``ErrandError/fileIsDirectory``, ``ErrandError/fileExists``,
/// ``ErrandError/fileLocked`` (another download writes that part), ``ErrandError/fileUnwritable``,
/// ``ErrandError/lengthMismatch``, ``ErrandError/digestMismatch``; ``ErrandError/invalidArgument``, before anything is
/// sent, where a member is out of range or the command cannot be a download. (YTKNetwork `resumableDownloadPath`.)
public struct Download: Command {
    /// What a download ends with.
    public typealias Response = DownloadedFile

    /// Where the file goes.
    public var destination: DownloadDestination
    /// What becomes of a file that is there already. Default: it is replaced.
    public var overwrite = OverwritePolicy.replace
    /// What the file must be long, in bytes; another length is ``ErrandError/lengthMismatch``. Default, `nil`: any.
    public var expectedSize: Int64?
    /// What the file's SHA-256 must be, 64 hexadecimal digits; another one is ``ErrandError/digestMismatch``, and nothing is
    /// kept. Default, `nil`: any.
    public var sha256: String?
    /// Whether ``DownloadedFile/sha256`` is wanted where ``sha256`` does not ask for it. Default: no.
    public var computesSHA256 = false
    /// So many connections at once, each for a range of the file, where the server says that it has ranges, how long the file
    /// is, and what it is told from others by; else one, and for the rest of the run once their answers contradict each
    /// other. Pieces are 1 MiB at least. 1...64. Default: 1.
    public var ranges = 1
    /// Bytes a second, over all connections together and on average: up to 256 KiB each come at once. Above zero. Default,
    /// `nil`: as fast as they come.
    public var rateLimit: Int?
    /// When to go on with what is there. Default: where the server gave something to tell the content by.
    public var resumes = ResumePolicy.validated
    /// Whether to go on with what an earlier run has left of a URL that differs in its query alone, as signed URLs do. What
    /// tells one content from another is still the server's to say, see ``resumes``. Default: no.
    public var ignoresQuery = false
    /// Whether the content may come in one of the codings of ``ConnectionOptions/encodings``. It is decoded on the way,
    /// and neither resumed nor fetched in ranges, as ranges would be of encoded bytes (RFC 9110 14.1.2). Default: no.
    public var acceptsEncodings = false
    /// How broken connections are borne.
    public var retry = DownloadRetry()
    /// Whether directories that are missing are made. Default: no, they are ``ErrandError/directoryMissing``.
    public var createsDirectories = false

    private let source: any Command

    /// A download of `url`, absolute or relative to the client's base URL.
    public init(_ url: String, to destination: DownloadDestination) {
        self.init(RawCommand(url: url), to: destination)
    }

    /// A download of what `command` asks for: everything that it says of the request counts, and its interceptors; what it
    /// says of the response does not.
    public init(_ command: some Command, to destination: DownloadDestination) {
        source = command
        self.destination = destination
    }

    /// Carries the transfers, and writes what they bring.
    public var coordinator: GroupCoordinator? { GroupCoordinator(carrier: DownloadCarrier(self)) }

    /// The whole content, or a part of it.
    public var acceptedStatusCodes: StatusCodes { [200, 206] }

    /// Takes the file from where the download has put it. Throws ``ErrandError/invalidArgument`` where an interceptor has
    /// replaced the response.
    public func decode(_ response: ErrandModel.Response) throws -> DownloadedFile {
        guard let file = response.attachment as? StoredDownload else {
            throw ErrandError.invalidArgument.with(
                message: "an interceptor has replaced the response of a download, whose body is a file")
        }
        return DownloadedFile(
            path: file.path, byteCount: file.byteCount, sha256: file.sha256, resumedFrom: file.resumedFrom,
            entityTag: file.validators.entityTag, lastModified: file.validators.lastModified, response: response)
    }
}

/// What the command says that it wraps.
extension Download {
    /// The wrapped command's; only GET is sent.
    public var givenMethod: HTTPRequest.Method { get throws(ErrandError) { try source.givenMethod } }
    /// The wrapped command's.
    public var path: String { source.path }
    /// The wrapped command's.
    public var baseURL: String? { source.givenBaseURL }
    /// The wrapped command's.
    public var cdnURL: String? { source.givenCDNURL }
    /// The wrapped command's.
    public var usesCDN: Bool { source.givenUsesCDN }
    /// The wrapped command's.
    public var urlRules: URLRules? { source.givenURLRules }
    /// The wrapped command's.
    public var query: [QueryItem] { source.givenQuery }
    /// The wrapped command's.
    public var parameters: Parameters? { source.givenParameters }
    /// The wrapped command's.
    public var parameterEncoding: ParameterEncoding { source.givenParameterEncoding }
    /// The wrapped command's.
    public var givenHeaders: HTTPFields { get throws(ErrandError) { try source.givenHeaders } }
    /// The wrapped command's.
    public var body: RequestBody { source.givenBody }
    /// The wrapped command's.
    public var authorization: Authorization? { source.givenAuthorization }
    /// The wrapped command's.
    public var customRequest: CustomRequest? { source.givenCustomRequest }
    /// The wrapped command's.
    public var timeouts: Timeouts? { source.givenTimeouts }
    /// The wrapped command's.
    public var limits: Limits? { source.givenLimits }
    /// The wrapped command's.
    public var priority: Priority { source.givenPriority }
    /// The wrapped command's.
    public var connection: ConnectionOptions? { source.givenConnection }
    /// The wrapped command's.
    public var redirects: RedirectPolicy? { source.givenRedirects }
    /// The wrapped command's, but for ``CommandOptions/coalesced``: each download has a file of its own.
    public var options: CommandOptions { source.givenOptions.subtracting(.coalesced) }
    /// ``options``, and whether content encodings are asked for.
    public var givenOptions: CommandOptions { acceptsEncodings ? options : options.union(.keepsEncoding) }
    /// The wrapped command's.
    public var interceptors: [any Interceptor] { source.givenInterceptors }
}
