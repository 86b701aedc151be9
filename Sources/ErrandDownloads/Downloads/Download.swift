public import HTTPTypes

/// Fetches a file. Bytes go from the socket to `name.part` beside the destination; a journal records which of them are
/// safe on disk. The file gets its name when it is complete. A download resumes by itself: after a broken connection
/// within the same run, and after a stop, a crash or a loss of power with the next run that has the same URL and
/// destination.
///
/// ```swift
/// var download = Download("http://127.0.0.1:8080/big.iso", to: .directory("/var/tmp"))
/// download.sha256 = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
/// let file = try await client.run(download)
/// print(file.path, file.byteCount)
/// ```
///
/// A download is a command like any other: it can be started, stopped, paused, watched and put into a ``Batch``.
/// ``AnyRequest/onProgress(_:)`` counts the whole file, including the bytes of earlier runs. Redirects, interceptors
/// and authentication work as usual. A response that is neither the content nor a part of it is judged like any other
/// response. When a run fails or is stopped, the downloaded bytes are kept for the next run, unless the digest was
/// wrong. Downloads are never cached.
///
/// Only GET is allowed. The body is requested without content encoding unless ``acceptsEncodings`` is set. If the
/// server sends an encoded body anyway, the body is decoded if ``ConnectionOptions/encodings`` was set to a non-empty
/// value, and stored encoded otherwise. Such a download cannot be resumed. ``Limits/bodyBytes`` applies to each
/// transfer, and only if the command, an override or the client's settings set it. ``Timeouts/total`` covers all
/// transfers and the waits between them; the other timeouts apply to each transfer. Memory holds only the bytes on
/// their way to the disk, at most 256 KiB per connection. All file work runs on the download's own queue.
///
/// Errors in addition to those of any request: ``ErrandError/diskFull``, ``ErrandError/directoryMissing``,
/// ``ErrandError/fileAccessDenied``, ``ErrandError/fileIsDirectory``, ``ErrandError/fileExists``,
/// ``ErrandError/fileLocked`` (another download writes the same part), ``ErrandError/fileUnwritable``,
/// ``ErrandError/lengthMismatch``, ``ErrandError/digestMismatch``. If a member is out of range or the command cannot be
/// a download, the request fails with ``ErrandError/invalidArgument`` before anything is sent. (YTKNetwork
/// `resumableDownloadPath`.)
public struct Download: Command {
    /// The value of a finished download.
    public typealias Response = DownloadedFile

    /// Where the file goes.
    public var destination: DownloadDestination
    /// What to do with a file that exists at the destination. Default: replace it.
    public var overwrite = OverwritePolicy.replace
    /// The required length of the file in bytes; any other length is ``ErrandError/lengthMismatch``. Default, `nil`:
    /// any length.
    public var expectedSize: Int64?
    /// The required SHA-256 of the file, 64 hexadecimal digits; any other digest is ``ErrandError/digestMismatch``, and
    /// nothing is kept. Default, `nil`: any digest.
    public var sha256: String?
    /// Whether ``DownloadedFile/sha256`` is computed even though ``sha256`` is `nil`. Default: no.
    public var computesSHA256 = false
    /// The number of simultaneous connections, each for a range of the file. Several connections are used only if the
    /// server announces ranges, the length of the file and a validator that tells this content from others. Otherwise
    /// one connection is used. Once the answers of the connections contradict each other, one connection is used for
    /// the rest of the run. Pieces are at least 1 MiB. 1...64. Default: 1.
    public var ranges = 1
    /// The rate in bytes a second, averaged over all connections together. Each connection may still receive up to 256
    /// KiB at once. Above zero. Default, `nil`: no limit.
    public var rateLimit: Int?
    /// When to resume from bytes that are already there. Default: only if the server sent a strong validator.
    public var resumes = ResumePolicy.validated
    /// Whether to resume a part that an earlier run left for a URL that differs only in its query, as signed URLs do.
    /// The server's validators still decide whether the content is the same, see ``resumes``. Default: no.
    public var ignoresQuery = false
    /// Whether the content may come in one of the codings of ``ConnectionOptions/encodings``. Such content is decoded
    /// while it is received. It is neither resumed nor fetched in ranges, because ranges would refer to the encoded
    /// bytes (RFC 9110 14.1.2). Default: no.
    public var acceptsEncodings = false
    /// How the download retries after broken connections.
    public var retry = DownloadRetry()
    /// Whether missing directories are created. Default: no; a missing directory is ``ErrandError/directoryMissing``.
    public var createsDirectories = false

    private let source: any Command

    /// A download of `url`, absolute or relative to the client's base URL.
    public init(_ url: String, to destination: DownloadDestination) {
        self.init(RawCommand(url: url), to: destination)
    }

    /// A download of the content that `command` requests. The download uses all members of the command that describe
    /// the request, and its interceptors. It ignores the members that describe the response.
    public init(_ command: some Command, to destination: DownloadDestination) {
        source = command
        self.destination = destination
    }

    /// Runs the transfers and writes their bytes to the file.
    public var coordinator: GroupCoordinator { GroupCoordinator(carrier: DownloadCarrier(self)) }

    /// 200 for the whole content, 206 for a part of it.
    public var acceptedStatusCodes: StatusCodes { [200, 206] }

    /// Returns the file that the download stored. Throws ``ErrandError/invalidArgument`` if an interceptor has
    /// replaced the response.
    public func decode(_ response: ErrandModel.Response) throws -> DownloadedFile {
        guard let file = response.attachment as? StoredDownload else {
            throw ErrandError.invalidArgument.with(
                message: "an interceptor replaced the response of a download, whose body is a file")
        }
        return DownloadedFile(
            path: file.path, byteCount: file.byteCount, sha256: file.sha256, resumedFrom: file.resumedFrom,
            entityTag: file.validators.entityTag, lastModified: file.validators.lastModified, response: response)
    }
}

/// Members of the wrapped command.
extension Download {
    /// The wrapped command's method; only GET is sent.
    public var givenMethod: HTTPRequest.Method { get throws(ErrandError) { try source.givenMethod } }
    /// The wrapped command's path.
    public var path: String { source.path }
    /// The wrapped command's base URL.
    public var baseURL: String? { source.givenBaseURL }
    /// The wrapped command's CDN URL.
    public var cdnURL: String? { source.givenCDNURL }
    /// Whether the wrapped command uses the CDN.
    public var usesCDN: Bool { source.givenUsesCDN }
    /// The wrapped command's URL rules.
    public var urlRules: URLRules? { source.givenURLRules }
    /// The wrapped command's query.
    public var query: [QueryItem] { source.givenQuery }
    /// The wrapped command's parameters.
    public var parameters: Parameters? { source.givenParameters }
    /// The wrapped command's parameter encoding.
    public var parameterEncoding: ParameterEncoding { source.givenParameterEncoding }
    /// The wrapped command's headers.
    public var givenHeaders: HTTPFields { get throws(ErrandError) { try source.givenHeaders } }
    /// The wrapped command's body.
    public var body: RequestBody { source.givenBody }
    /// The wrapped command's authorization.
    public var authorization: Authorization? { source.givenAuthorization }
    /// The wrapped command's custom request.
    public var customRequest: CustomRequest? { source.givenCustomRequest }
    /// The wrapped command's timeouts.
    public var timeouts: Timeouts? { source.givenTimeouts }
    /// The wrapped command's limits.
    public var limits: Limits? { source.givenLimits }
    /// The wrapped command's priority.
    public var priority: Priority { source.givenPriority }
    /// The wrapped command's connection options.
    public var connection: ConnectionOptions? { source.givenConnection }
    /// The wrapped command's redirect policy.
    public var redirects: RedirectPolicy? { source.givenRedirects }
    /// The wrapped command's options without ``CommandOptions/coalesced``: each download has its own file.
    public var options: CommandOptions { source.givenOptions.subtracting(.coalesced) }
    /// ``options``, and the flag that requests the body without content encoding unless ``acceptsEncodings`` is set.
    public var givenOptions: CommandOptions { acceptsEncodings ? options : options.union(.keepsEncoding) }
    /// The wrapped command's own settings for failures and for the addresses that its requests may use. They apply to
    /// each transfer of the download.
    public var resilience: RequestResilience? { source.givenResilience }
    /// The wrapped command's URL template.
    public var urlTemplate: String? { source.givenURLTemplate }
    /// The wrapped command's interceptors.
    public var interceptors: [any Interceptor] { source.givenInterceptors }
}

/// When a download resumes from the bytes of an earlier run or of a broken connection.
public enum ResumePolicy: Sendable, Hashable {
    /// Resumes if the server sent a strong entity tag, or a modification date that is older than its response. The
    /// client can then request the rest of exactly that content (`If-Range`, RFC 9110 13.1.5). Starts from zero
    /// otherwise.
    case validated
    /// Also resumes without a strong validator: the length and all validators that were sent must match. Meant for
    /// contents that never change.
    case always
    /// Drops the bytes of earlier runs. Broken connections are treated as with ``validated``.
    case never
}
