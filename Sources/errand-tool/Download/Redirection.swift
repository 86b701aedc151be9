import Foundation
import HTTPTypes

/// Where a download goes after a redirecting response. Downloads are GET, which every redirect leaves GET (RFC 9110
/// 15.4).
enum Redirection: Equatable {
    /// The response is the response: no redirect, or none that says where to.
    case none
    case follow(url: String, dropsCredentials: Bool)
    /// To what is neither http nor https, or from https to http.
    case refused(String)

    init(status: Int, location: String?, from url: String) {
        guard [301, 302, 303, 307, 308].contains(status), let location, let base = URL(string: url),
            let target = URL(string: location, relativeTo: base)?.absoluteURL
        else {
            self = .none
            return
        }
        let scheme = target.scheme?.lowercased()
        guard scheme == "http" || scheme == "https", target.host != nil else {
            self = .refused("the redirect to '\(target.absoluteString)' is not followed: only http and https are")
            return
        }
        guard !(base.scheme?.lowercased() == "https" && scheme == "http") else {
            self = .refused("the redirect from https to '\(target.absoluteString)' is not followed")
            return
        }
        self = .follow(url: target.absoluteString, dropsCredentials: Self.origin(base) != Self.origin(target))
    }

    /// Fields that belong to an origin and are not sent to another.
    static let ofOneOrigin =
        [.authorization, .cookie, .proxyAuthorization] + [HTTPField.Name("Host")].compactMap(\.self)

    private static func origin(_ url: URL) -> [String] {
        let scheme = url.scheme?.lowercased() ?? ""
        let port = url.port ?? (scheme == "https" ? 443 : 80)
        return [scheme, url.host?.lowercased() ?? "", String(port)]
    }
}
