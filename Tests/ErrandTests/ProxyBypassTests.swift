import Errand
import Testing

@testable import ErrandEngine

@Suite struct ProxyBypassTests {
    @Test(
        arguments: [
            ([], nil), ([""], nil), (["*"], "*"), (["a", "*"], "*"), (["corp.test"], "corp.test"),
            ([".corp.test"], ".corp.test"), (["*.corp.test"], ".corp.test"), (["127.0.0.1"], "127.0.0.1"),
            (["10.0.0.0/8"], "10.0.0.0/8"), (["::1"], "::1"), (["[::1]"], "::1"), (["fd00::1/128"], "fd00::1"),
            (["10.1.2.3/32"], "10.1.2.3/32"), (["a", "b"], "a,b"), (["a, b c"], "a,b,c"), (["A_b-1.c."], "A_b-1.c."),
            (["bücher.test", "*.ü.test"], "xn--bcher-kva.test,.xn--tda.test"),
        ] as [([String], String?)])
    func whatLibcurlIsTold(entries: [String], expected: String?) throws {
        #expect(try ProxyBypass.list(entries) == expected)
    }

    /// libcurl would never match these, and send to the proxy what was to pass by it.
    @Test(arguments: [
        "127.0.0.1:80", "h:80", "[::1]:80", "a.*.b", "a*", "*a", "*.*.a", "*.", ".", "10.0.0.0/33", "10.0.0.0/0",
        "10.0.0.0/x", "fd00::/129", "fd00::/8", "[fd00::]/8", "h/8", "http://h", "[h]", "[127.0.0.1]", "::1::", "a/b/c",
        "a\0b", "a;b",
    ])
    func whatLibcurlWouldNotMatch(entry: String) {
        do throws(ErrandError) {
            let list = try ProxyBypass.list(["good", entry])
            Issue.record("\(entry) became \(list ?? "nothing")")
        } catch {
            #expect(error == .invalidOption)
            #expect(error.message.contains(entry.debugDescription), "\(error)")
        }
    }
}
