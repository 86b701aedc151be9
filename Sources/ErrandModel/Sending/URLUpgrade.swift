/// Replaces URLs before anything is decided about them: credentials, TLS policies, caches and redirect rules see the new
/// URL. The module `ErrandResilience` has one (HSTS).
package protocol URLUpgrade: AnyObject, Sendable {
    /// The URL to request instead; `nil`: the URL as it is. Any thread.
    func upgraded(_ url: String) -> String?

    /// A URL was replaced in order to be requested. A comparison of URLs is no replacement. Any thread.
    func urlWasUpgraded()
}
