import Foundation
import RivalSupport

/// What a typed request does besides the request: a value encoded and decoded, again and again on one thread.
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
