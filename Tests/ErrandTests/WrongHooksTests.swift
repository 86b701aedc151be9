import Foundation
import Testing

/// A hook, or a member of a store, with a misspelt name or another signature must not compile: a default would take its
/// place, and the hook would never be called.
@Suite struct WrongHooksTests {
    private static let next = "next: Next) async throws -> Response { try await next(r) }"

    /// A type that conforms, and the same type with one method changed.
    private static let protocols: [(name: String, keyword: String, methods: [(right: String, wrong: [String])])] = [
        (
            "Accessory", "final class",
            [
                (
                    "func requestWillStart(_ request: AnyRequest) {}",
                    [
                        "func requestWillStrat(_ request: AnyRequest) {}",
                        "func requestWillStart<C: Command>(_ request: Request<C>) {}",
                        "func requestWillStart(request: AnyRequest) {}",
                    ]
                ),
                (
                    "func requestWillStop(_ request: AnyRequest) {}",
                    ["func requestWillStop(_ request: AnyRequest) async {}"]
                ),
                ("func requestDidStop(_ request: AnyRequest) {}", ["func requestDidStop() {}"]),
            ]
        ),
        (
            "RequestDelegate", "final class",
            [
                ("func requestFinished(_ request: AnyRequest) {}", ["func requestDidFinish(_ request: AnyRequest) {}"]),
                (
                    "func requestFailed(_ request: AnyRequest) {}",
                    ["func requestFailed(_ request: AnyRequest, error: ErrandError) {}"]
                ),
            ]
        ),
        (
            "Interceptor", "struct",
            [
                (
                    "func intercept(_ r: RequestDescription, in c: InterceptionContext, \(next)",
                    [
                        "func intercepts(_ r: RequestDescription, in c: InterceptionContext, \(next)",
                        "func intercept(_ r: RequestDescription, with c: InterceptionContext, \(next)",
                        "func intercept(_ r: RequestDescription, \(next)",
                    ]
                )
            ]
        ),
        (
            "StepwiseInterceptor", "struct",
            [
                (
                    "func prepare(_ r: RequestDescription, in c: InterceptionContext) -> RequestDescription { r }",
                    [
                        "func prepare(_ r: RequestDescription) -> RequestDescription { r }",
                        "func prepare(_ r: inout RequestDescription, in c: InterceptionContext) {}",
                        "func prepare(_ r: RequestDescription, with c: InterceptionContext) -> RequestDescription { r }",
                    ]
                ),
                (
                    "func replays(after r: TransferResult, in c: InterceptionContext) -> Bool { false }",
                    ["func replays(after r: Response, in c: InterceptionContext) -> Bool { false }"]
                ),
                (
                    "func transform(_ r: Response, in c: InterceptionContext) -> Response { r }",
                    ["func transform(_ r: Response, in c: InterceptionContext) -> Response? { r }"]
                ),
            ]
        ),
        (
            "PreparingInterceptor", "struct",
            [
                (
                    "func prepare(_ r: RequestDescription, in c: InterceptionContext) -> RequestDescription { r }",
                    ["func prepares(_ r: RequestDescription, in c: InterceptionContext) -> RequestDescription { r }"]
                )
            ]
        ),
        (
            "ReplayingInterceptor", "struct",
            [
                (
                    "func replays(after r: TransferResult, in c: InterceptionContext) -> Bool { false }",
                    ["func replay(after r: TransferResult, in c: InterceptionContext) -> Bool { false }"]
                )
            ]
        ),
        (
            "TransformingInterceptor", "struct",
            [
                (
                    "func transform(_ r: Response, in c: InterceptionContext) -> Response { r }",
                    ["func transform(response r: Response, in c: InterceptionContext) -> Response { r }"]
                )
            ]
        ),
        (
            "Authenticator", "struct",
            [
                (
                    "func applies(to r: RequestDescription) -> Bool { true }",
                    ["func applies(to url: String) -> Bool { true }"]
                ),
                ("func apply(_ c: String, to r: inout RequestDescription) {}", []),
                ("func isUsable(_ c: String) -> Bool { true }", ["func isUsable(_ c: String) async -> Bool { true }"]),
                (
                    "func refuses(_ r: Response) -> Bool { false }", ["func refuse(_ r: Response) -> Bool { false }"]
                ),
                ("func refresh(_ c: String?, after r: Response?) -> String { \"\" }", []),
            ]
        ),
        (
            "CacheStore", "final class",
            [
                (
                    "var answersAtOnce: Bool { true }",
                    ["var answerAtOnce: Bool { true }", "var answersAtOnce: Bool? { true }"]
                ),
                (
                    "func accepts(byteCount: Int) -> Bool { true }",
                    ["func accept(byteCount: Int) -> Bool { true }", "func accepts(bytes: Int) -> Bool { true }"]
                ),
                (
                    "func readAtOnce(_ k: CacheKey) -> CacheRecord? { nil }",
                    [
                        "func readsAtOnce(_ k: CacheKey) -> CacheRecord? { nil }",
                        "func readAtOnce(_ k: CacheKey) async -> CacheRecord? { nil }",
                    ]
                ),
                ("func read(_ k: CacheKey) -> CacheRecord? { nil }", []),
                ("func write(_ r: CacheRecord, for k: CacheKey) {}", []),
                ("func remove(_ k: CacheKey) -> Bool { false }", []),
                ("func remove(tag: String) -> Int { 0 }", []),
                ("func remove(olderThan instant: Int64) -> Int { 0 }", []),
                ("func removeAll() -> Int { 0 }", []),
                ("func removeAll(namespace: String) -> Int { 0 }", []),
                ("func statistics() -> CacheStatistics { CacheStatistics() }", []),
                ("var health: CacheHealth { .working }", []),
            ]
        ),
    ]

    @Test func everyMisspeltHookIsAnError() throws {
        var lines = ["import Errand"]
        var wrong: Set<Int> = []
        for (name, keyword, methods) in Self.protocols {
            let right = methods.map(\.right)
            lines.append("\(keyword) Right_\(name): \(name) { \(right.joined(separator: "; ")) }")
            for (index, method) in methods.enumerated() {
                for changed in method.wrong {
                    var all = right
                    all[index] = changed
                    lines.append("\(keyword) Wrong_\(lines.count): \(name) { \(all.joined(separator: "; ")) }")
                    wrong.insert(lines.count)
                }
            }
        }
        let (code, text) = try Compiler.check(lines.joined(separator: "\n"))
        #expect(code == 1)
        #expect(!text.contains("no such module"), "\(text)")
        // `PATH/Source.swift:LINE:COLUMN: error: ...`
        let found = text.components(separatedBy: "\n").filter { $0.contains(": error: ") }.compactMap { line in
            line.components(separatedBy: "Source.swift:").last?.split(separator: ":").first.flatMap { Int($0) }
        }
        #expect(Set(found) == wrong, "\(text)")
    }

    /// Without an optional the queue of an accessory is taken; another type is an error.
    @Test func theQueueOfAnAccessoryIsTakenOrAnError() throws {
        let methods = """
            func requestWillStart(_ request: AnyRequest) {}
            func requestWillStop(_ request: AnyRequest) {}
            func requestDidStop(_ request: AnyRequest) {}
            """
        let (code, text) = try Compiler.check(
            """
            import Errand
            final class Right: Accessory { let callbackQueue = CallbackQueue.serial()
            \(methods) }
            final class Wrong: Accessory { let callbackQueue = "main"
            \(methods) }
            """)
        #expect(code == 1)
        #expect(!text.contains("'Right'"), "\(text)")
        #expect(text.contains("error: type 'Wrong' does not conform to protocol 'Accessory'"), "\(text)")
    }
}
