import HTTPTypes

/// What may be done with a record by time and version; pure.
enum TimedCacheRule {
    enum Verdict: Sendable, Equatable {
        /// For so many milliseconds more.
        case fresh(left: Int64)
        /// Since so many milliseconds.
        case expired(since: Int64)
        case miss(CacheMiss)
    }

    /// The order is that of YTKNetwork's `loadCacheWithError:`, but that what cannot be used at all comes before what has
    /// merely expired, which may still stand in.
    static func judge(
        _ record: CacheRecord?, _ kind: CachePolicy.Kind, headers: () -> HTTPFields, applicationVersion: String?,
        now: Int64
    ) -> Verdict {
        guard case .timed(let timeToLive, let version, let sensitiveDigest, let requiresApplication) = kind else {
            return .miss(.notCached)
        }
        // A record of HTTP's, put under this key by hand, has no time to live.
        guard let record, let storedFor = record.timeToLive, record.status > 0 else { return .miss(.notStored) }
        guard record.version == version else { return .miss(.versionMismatch) }
        guard record.sensitiveDigest == sensitiveDigest else { return .miss(.sensitiveDataMismatch) }
        if requiresApplication, record.applicationVersion != applicationVersion {
            return .miss(.applicationVersionMismatch)
        }
        if !record.varyNames.isEmpty {
            let vary = VaryValues(names: record.varyNames, digest: Array((record.varyDigest ?? "").utf8))
            guard vary.matches(headers(), digest: ResponseCache.digest) else { return .miss(.varies) }
        }
        // The shorter: what a new program thinks of the old data counts, and what was promised when it was stored.
        let span = min(timeToLive.cacheMilliseconds, storedFor)
        // A clock that was set back makes nothing younger than new, and nothing that lies further ahead than it could
        // live at all counts as new: so nothing is used for longer than twice its time.
        let age = now.subtractingReportingOverflow(record.storedAt)
        guard !age.overflow, span > 0 else { return .expired(since: Int64.max) }
        if age.partialValue < 0, age.partialValue <= -span { return .expired(since: Int64.max) }
        let past = max(0, age.partialValue)
        return past < span ? .fresh(left: span - past) : .expired(since: past - span)
    }

    /// Whether what has expired may be used where the network failed.
    static func mayStandIn(_ verdict: Verdict, staleIfError: Duration?) -> Bool {
        guard case .expired(let since) = verdict, let staleIfError else { return false }
        return since <= staleIfError.cacheMilliseconds
    }
}

extension TimedCacheRule.Verdict {
    /// Why it is not used.
    var miss: CacheMiss {
        switch self {
        case .fresh: .unusable
        case .expired: .expired
        case .miss(let miss): miss
        }
    }

    /// RFC 9211 2.2.
    var forward: CacheStatus.Forward {
        switch self {
        case .fresh: .request
        case .expired: .stale
        case .miss(.notStored): .uriMiss
        case .miss(.varies): .varyMiss
        case .miss: .miss
        }
    }
}
