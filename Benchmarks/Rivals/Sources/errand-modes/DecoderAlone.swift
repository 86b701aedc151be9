import Foundation
import RivalSupport

/// The work of a typed request without the request: encodes and decodes a value repeatedly on one thread.
struct DecoderAlone: Rival {
    let mode = "decoder"
    let loops = 0
    private let encoder = JSONEncoder()
    private let decoder = JSONDecoder()

    func send(_ ticket: Load.Ticket, _ load: Load) {
        var next: Load.Ticket? = ticket
        while let current = next {
            do {
                let bytes = try encoder.encode(Item.sample)
                _ = try decoder.decode(Item.self, from: bytes)
                next = load.end(current, .answered(status: 200, bytes: bytes.count))
            } catch {
                next = load.end(current, .failed("\(error)"))
            }
        }
    }

    func shutDown() {}
}
