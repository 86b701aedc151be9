import ErrandTesting
import Foundation
import Testing

/// `errand config --print-keys`.
@Suite struct ConfigTests {
    @Test func printsEveryKey() throws {
        let run = try ToolRun(["config", "--print-keys", "http.users"])
        #expect(run.status == 0 && run.errors.isEmpty)
        let lines = run.text.components(separatedBy: "\n")
        let place = try #require(lines.firstIndex(of: "http.users.timeouts.connect  HTTP_USERS_TIMEOUTS_CONNECT"))
        #expect(lines[place + 1] == "    duration, 1ms to 30d, or none; default: 10s; applies at once")
        #expect(
            lines[place + 2] == "    From the start until ready to send: DNS, TCP, TLS." && lines[place + 3].isEmpty)
        #expect(lines.contains("http.users.baseURL  HTTP_USERS_BASE_URL"))
        let unscoped = try ToolRun(["config", "--print-keys"]).text
        #expect(
            unscoped.hasPrefix("baseURL  BASE_URL\n") && unscoped.contains("\ntls.proxyCaFile  TLS_PROXY_CA_FILE\n"))
    }

    @Test func printsJSON() throws {
        let run = try ToolRun(["config", "--print-keys", "--json", "http"])
        let keys = try #require(
            try JSONSerialization.jsonObject(with: run.output) as? [[String: Any]])
        let token = try #require(keys.first { $0["key"] as? String == "http.authorization.token" })
        #expect(token["variable"] as? String == "HTTP_AUTHORIZATION_TOKEN" && token["secret"] as? Bool == true)
        #expect(token["applies"] as? String == "at_once" && token["values"] as? String == "text")
        let loops = try #require(keys.first { $0["key"] as? String == "http.engine.loops" })
        #expect(loops["applies"] as? String == "at_start" && loops["values"] as? String == "whole number, 1 to 64")
    }

    @Test func saysWhatIsMissing() throws {
        let run = try ToolRun(["config"])
        #expect(run.status == 64 && run.output.isEmpty)
        #expect(run.errors.hasPrefix("errand: Say what to print: --print-keys."), "\(run.errors)")
    }
}
