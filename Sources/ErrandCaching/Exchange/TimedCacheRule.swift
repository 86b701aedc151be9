import HTTPTypes

/// Decides how a record with a timed policy may be used; pure.
enum TimedCacheRule {
    enum Verdict: Sendable, Equatable {
        /// Fresh for this many milliseconds more.
        case fresh(left: Int64)
        /// Expired for this many milliseconds.
        case expired(since: Int64)
        case miss(CacheMiss)
    }

    /// The checks have the order of YTKNetwork's `loadCacheWithError:`, with one difference: unusable records are found
    /// before expired ones, because an expired record may still be served on failure.
    static func judge(
        _ record: CacheRecord?, _ kind: CachePolicy.Kind, headers: () -> HTTPFields, applicationVersion: String?,
        now: Int64
    ) -> Verdict {
        guard case .timed(let timeToLive, let version, let sensitiveDigest, let requiresApplication) = kind else {
            return .miss(.notCached)
        }
        // A record of the HTTP policy, put under this key by hand, has no time to live.
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
        // The shorter of two lifetimes: that of the current policy and that of the policy which stored the record.
        let span = min(timeToLive.cacheMilliseconds, storedFor)
        // After the clock was set back, a negative age counts as zero. A record dated further ahead than its lifetime
        // counts as expired. Therefore no record is used for longer than twice its lifetime.
        let age = now.subtractingReportingOverflow(record.storedAt)
        guard !age.overflow, span > 0 else { return .expired(since: Int64.max) }
        if age.partialValue < 0, age.partialValue <= -span { return .expired(since: Int64.max) }
        let past = max(0, age.partialValue)
        return past < span ? .fresh(left: span - past) : .expired(since: past - span)
    }

    /// Whether an expired record may be served after the network failed.
    static func mayServeStale(_ verdict: Verdict, staleIfError: Duration?) -> Bool {
        guard case .expired(let since) = verdict, let staleIfError else { return false }
        return since <= staleIfError.cacheMilliseconds
    }
}

extension TimedCacheRule.Verdict {
    /// Why the record is not used.
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
