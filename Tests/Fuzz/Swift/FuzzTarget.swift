import Foundation

/// One parser under libFuzzer: takes any bytes, and traps where a property of the parser does not hold.
struct FuzzTarget: Sendable {
    let name: String
    let run: @Sendable ([UInt8]) -> Void

    static let all: [FuzzTarget] = [
        json, cacheControl, date, disposition, challenge, contentRange, journal, events, fields, record, httpFile,
        har, histogram, threshold, loadResult, loadPlan,
    ]

    /// The target that `ERRAND_FUZZ_TARGET` names.
    static let chosen: FuzzTarget = {
        let name = ProcessInfo.processInfo.environment["ERRAND_FUZZ_TARGET"] ?? ""
        guard let target = all.first(where: { $0.name == name }) else {
            preconditionFailure("ERRAND_FUZZ_TARGET is \"\(name)\"; it is one of \(all.map(\.name))")
        }
        return target
    }()
}

/// libFuzzer's entry point.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOneInput(_ data: UnsafePointer<UInt8>?, _ size: Int) -> CInt {
    FuzzTarget.chosen.run(Array(UnsafeBufferPointer(start: data, count: size)))
    return 0
}
