extension RequestBuilder {
    /// Replaces the URLs of requests that have these settings themselves; `nil`: the URLs are used as they are.
    func upgrader(by resilience: RequestResilience?) -> (any URLUpgrade)? {
        guard let choice = resilience?.choice else { return upgrade }
        return choice.urlUpgrade.part(client: upgrade)
    }

    /// The same for the requests of this run.
    func upgrader(for description: RequestDescription) -> (any URLUpgrade)? {
        description.hasRareMembers ? upgrader(by: description.resilience) : upgrade
    }
}

extension URLUpgrade {
    /// Replaces the URL in place.
    func upgrade(_ url: inout String) {
        guard let upgraded = upgraded(url) else { return }
        url = upgraded
        urlWasUpgraded()
    }
}
