import Errand
import ErrandTesting

/// What a request of the storm asks for, and how that may end where nobody stops it.
enum StormTarget: CaseIterable {
    case small, large, huge, near, redirected, ledAway, missing, broken, refused, reset, half, dripping
    case challenged, digest, upload, streamedUpload

    /// Those that cost little.
    static let common = allCases.filter { $0 != .huge }

    /// Whether it may end so.
    func permits(_ result: Result<Int, ErrandError>) -> Bool {
        switch self {
        case .small, .near, .redirected, .ledAway, .upload, .streamedUpload: result == .success(12)
        case .challenged: result == .success(8)
        // The server's challenge is good for one connection, and another request may take that one away.
        case .digest: result == .success(12) || result == .failure(.statusNotAccepted)
        case .large: result == .success(65536)
        case .huge: result == .success(1_048_576)
        case .missing, .broken: result == .failure(.statusNotAccepted)
        case .refused: result == .failure(.connectFailed)
        // The RST comes as the end of the stream or as an error of reading or of sending.
        case .reset: [.failure(.connectionLost), .failure(.receiveFailed), .failure(.sendFailed)].contains(result)
        case .half: result == .failure(.partialBody)
        case .dripping: result == .failure(.timeoutTotal)
        }
    }

    func path(_ addresses: StormServers.Addresses, _ random: inout StormRandom) -> String {
        switch self {
        case .small: addresses.site + "/12b"
        case .large: addresses.site + "/64k"
        case .huge: addresses.site + "/1m"
        case .near: addresses.near + "/small"
        case .redirected: addresses.near + "/hop/\(1 + random.below(3))"
        case .ledAway: addresses.near + "/away"
        case .missing: addresses.site + "/status/404"
        case .broken: addresses.near + "/broken"
        case .refused: addresses.nobody + "/"
        case .reset: addresses.near + "/reset"
        case .half: addresses.near + "/half"
        case .dripping: addresses.far + "/drip"
        case .challenged: addresses.site + "/auth/bearer/storm"
        case .digest: addresses.guarded + "/digest"
        case .upload, .streamedUpload: addresses.far + "/upload"
        }
    }
}
