extension ConnectionOptions {
    /// The `curl` options for these connection options. `automatic` adds none: `curl` has the same rule.
    func curlWords(url: String, hasAcceptEncoding: Bool, redaction: Redaction) -> [String] {
        var words: [String] = []
        let isSecure = URLReference(url).scheme?.lowercased() == "https"
        switch httpVersion {
        case .automatic, nil: break
        case .http1: words.append("--http1.1")
        // In clear text `--http2` asks for an upgrade, which the engine does not do.
        case .http2OverTLS: words.append(isSecure ? "--http2" : "--http1.1")
        case .http2PriorKnowledge: words.append("--http2-prior-knowledge")
        }
        if let encodings, !encodings.isEmpty {
            words.append("--compressed")
            // Without a field of its own, `curl` sends all encodings that it supports.
            if !hasAcceptEncoding { words += ["-H", ShellWord.quoted("Accept-Encoding: \(encodings.names)")] }
        }
        if isSecure { words += tls.curlWords(redaction) }
        words += proxyWords(redaction)
        for entry in resolveOverrides ?? [] { words += ["--resolve", ShellWord.quoted(entry)] }
        if let unixSocketPath = unixSocketPath?.value { words += ["--unix-socket", ShellWord.quoted(unixSocketPath)] }
        if let localInterface = localInterface?.value { words += ["--interface", ShellWord.quoted(localInterface)] }
        if let tcpKeepaliveSeconds = tcpKeepaliveSeconds?.value {
            words += ["--keepalive-time", "\(tcpKeepaliveSeconds)"]
        }
        return words
    }

    private func proxyWords(_ redaction: Redaction) -> [String] {
        switch proxy {
        case .direct, nil:
            return ["--noproxy", "'*'"]
        case .environment:
            return []
        case .url(let url, let bypass):
            let words = [
                "--proxy", ShellWord.quoted(redaction.url(url)), "--noproxy",
                ShellWord.quoted((try? ProxyBypass.list(bypass)) ?? bypass.joined(separator: ",")),
            ]
            guard URLReference(url).scheme?.lowercased() == "https", let file = tls.proxyCAFile?.value else {
                return words
            }
            return words + ["--proxy-cacert", ShellWord.quoted(file)]
        }
    }
}

extension ConnectionOptions.Encodings {
    fileprivate var names: String {
        let names: [(Self, String)] = [(.gzip, "gzip"), (.deflate, "deflate"), (.brotli, "br"), (.zstd, "zstd")]
        return names.filter { contains($0.0) }.map(\.1).joined(separator: ", ")
    }
}

extension ConnectionOptions.TLS {
    fileprivate func curlWords(_ redaction: Redaction) -> [String] {
        var words = [minimumVersion == .v1_3 ? "--tlsv1.3" : "--tlsv1.2"]
        // `--cert` treats the text after a colon as the password.
        let certificate = (clientCertificate?.value).map { path in
            String(path.flatMap { $0 == ":" || $0 == "\\" ? ["\\", $0] : [$0] })
        }
        let files = [("--cacert", caFile?.value), ("--cert", certificate), ("--key", clientKey?.value)]
        for case (let option, let path?) in files { words += [option, ShellWord.quoted(path)] }
        if let clientKeyPassword = clientKeyPassword?.value {
            let shown = redaction.hidesCredentials ? Redaction.placeholder : clientKeyPassword
            words += ["--pass", ShellWord.quoted(shown)]
        }
        if let pinnedKeys, !pinnedKeys.isEmpty {
            let keys = pinnedKeys.map { $0.hasPrefix("sha256//") ? $0 : "sha256//" + $0 }
            words += ["--pinnedpubkey", ShellWord.quoted(keys.joined(separator: ";"))]
        }
        if insecureAcceptAnyCertificate == true || insecureAcceptAnyHostName == true { words.append("-k") }
        return words
    }
}

extension TransferSettings {
    /// The `curl` options for the timeouts that `curl` has.
    var curlWords: [String] {
        var words: [String] = []
        if connectTimeout > 0 { words += ["--connect-timeout", Self.seconds(connectTimeout)] }
        if totalTimeout > 0 { words += ["--max-time", Self.seconds(totalTimeout)] }
        if idleTimeout > 0 { words += ["--speed-limit", "1", "--speed-time", "\((idleTimeout + 999) / 1000)"] }
        return words
    }

    private static func seconds(_ milliseconds: Int64) -> String {
        let (whole, rest) = milliseconds.quotientAndRemainder(dividingBy: 1000)
        guard rest > 0 else { return "\(whole)" }
        let digits = "\(1000 + rest)".dropFirst()
        return "\(whole).\(digits)"
    }
}
