/// The settings with which the engine starts; ``Client/Configuration`` documents each.
package struct ReactorSettings: Sendable {
    package var cookies = CookieStorage.off
    package var loops: Int?
    package var queueCapacity: Int?
    package var inFlightLimit: Int?
    package var originInFlightLimit: Int?
    package var connection = ConnectionOptions()

    package init() {}
}
