import Glibc

/// The SHA-256 of OpenSSL 3's libcrypto, looked up at run time if libcurl has loaded that library. So a program need not
/// link its own libcrypto, and a process never has two.
struct Libcrypto: Sendable {
    typealias Context = OpaquePointer
    private typealias Fetch =
        @Sendable @convention(c) (OpaquePointer?, UnsafePointer<CChar>?, UnsafePointer<CChar>?) ->
        OpaquePointer?
    fileprivate typealias Digest =
        @Sendable @convention(c) (
            UnsafeRawPointer?, Int, UnsafeMutablePointer<UInt8>?, UnsafeMutablePointer<UInt32>?, OpaquePointer?,
            OpaquePointer?
        ) -> Int32

    /// Fetched once: with `EVP_sha256()` OpenSSL 3 looks up the algorithm for each digest, which takes longer than a
    /// short digest. Never freed, never changed, and safe for any thread.
    private nonisolated(unsafe) let algorithm: OpaquePointer
    private let digest: Digest
    fileprivate let new: @Sendable @convention(c) () -> Context?
    fileprivate let free: @Sendable @convention(c) (Context?) -> Void
    fileprivate let copy: @Sendable @convention(c) (Context?, Context?) -> Int32
    fileprivate let update: @Sendable @convention(c) (Context?, UnsafeRawPointer?, Int) -> Int32
    fileprivate let final:
        @Sendable @convention(c) (Context?, UnsafeMutablePointer<UInt8>?, UnsafeMutablePointer<UInt32>?)
            -> Int32
    private let begin: @Sendable @convention(c) (Context?, OpaquePointer?, OpaquePointer?) -> Int32

    /// `nil` if the process has no OpenSSL 3, or OpenSSL has no SHA-256 (its configuration leaves the provider out).
    static let loaded = Libcrypto(soname: "libcrypto.so.3")

    /// Uses the library of this name if the process has loaded it; loads no library. The name is OpenSSL's promise for the
    /// signatures of the functions. The handle is kept, so the library stays loaded.
    init?(soname: String) {
        guard let library = dlopen(soname, RTLD_NOW | RTLD_NOLOAD),
            let fetch = dlsym(library, "EVP_MD_fetch"), let digest = dlsym(library, "EVP_Digest"),
            let new = dlsym(library, "EVP_MD_CTX_new"), let free = dlsym(library, "EVP_MD_CTX_free"),
            let copy = dlsym(library, "EVP_MD_CTX_copy_ex"), let begin = dlsym(library, "EVP_DigestInit_ex"),
            let update = dlsym(library, "EVP_DigestUpdate"), let final = dlsym(library, "EVP_DigestFinal_ex"),
            let algorithm = unsafeBitCast(fetch, to: Fetch.self)(nil, "SHA256", nil)
        else { return nil }
        self.algorithm = algorithm
        self.digest = unsafeBitCast(digest, to: Digest.self)
        self.new = unsafeBitCast(new, to: (@Sendable @convention(c) () -> Context?).self)
        self.free = unsafeBitCast(free, to: (@Sendable @convention(c) (Context?) -> Void).self)
        self.copy = unsafeBitCast(copy, to: (@Sendable @convention(c) (Context?, Context?) -> Int32).self)
        self.begin = unsafeBitCast(
            begin, to: (@Sendable @convention(c) (Context?, OpaquePointer?, OpaquePointer?) -> Int32).self)
        self.update = unsafeBitCast(
            update, to: (@Sendable @convention(c) (Context?, UnsafeRawPointer?, Int) -> Int32).self)
        self.final = unsafeBitCast(
            final,
            to: (@Sendable @convention(c) (Context?, UnsafeMutablePointer<UInt8>?, UnsafeMutablePointer<UInt32>?) ->
                Int32)
                .self)
    }

    fileprivate func begin(_ context: Context) -> Bool {
        begin(context, algorithm, nil) == 1
    }

    /// The digest of `bytes`; `nil` if libcrypto has no memory.
    func digest(of bytes: [UInt8]) -> [UInt8]? {
        Libcrypto.output { digest(bytes, bytes.count, $0, nil, algorithm, nil) }
    }

    /// The 32 bytes that `fill` writes; `nil` if `fill` does not return 1, the success code of libcrypto's functions.
    fileprivate static func output(_ fill: (UnsafeMutablePointer<UInt8>?) -> Int32) -> [UInt8]? {
        var isWhole = false
        let digest = [UInt8](unsafeUninitializedCapacity: SHA256.byteCount) { buffer, filled in
            isWhole = fill(buffer.baseAddress) == 1
            filled = isWhole ? SHA256.byteCount : 0
        }
        return isWhole ? digest : nil
    }
}

/// One SHA-256 computation in progress.
struct LibcryptoDigest: ~Copyable {
    private let library: Libcrypto
    private let context: Libcrypto.Context

    /// `nil` if libcrypto has no memory.
    init?(_ library: Libcrypto) {
        guard let context = library.new() else { return nil }
        guard library.begin(context) else {
            library.free(context)
            return nil
        }
        self.library = library
        self.context = context
    }

    deinit {
        library.free(context)
    }

    func update(_ bytes: UnsafeRawBufferPointer) -> Bool {
        library.update(context, bytes.baseAddress, bytes.count) == 1
    }

    /// Finishing ends a context, so this method finishes a copy.
    func bytesSoFar() -> [UInt8]? {
        guard let copy = library.new() else { return nil }
        defer { library.free(copy) }
        guard library.copy(copy, context) == 1 else { return nil }
        return Libcrypto.output { library.final(copy, $0, nil) }
    }

    /// The digest; ends the computation.
    consuming func bytes() -> [UInt8]? {
        Libcrypto.output { library.final(context, $0, nil) }
    }
}
