/// An event accessory that may have no use for events, such as one whose logger does not write them.
package protocol SelectiveEventAccessory: EventAccessory {
    /// Whether it is to get events. Read when a client is made with the accessory, and for each run that it was added to.
    var wantsEvents: Bool { get }
}

extension Sequence where Element == any Accessory {
    /// Those that get events.
    var observers: [any EventAccessory] {
        compactMap { accessory in
            if let selective = accessory as? any SelectiveEventAccessory, !selective.wantsEvents { return nil }
            return accessory as? any EventAccessory
        }
    }
}
