import Errand
import ErrandLoad
import ErrandTesting
import Foundation
import Testing

@testable import errand

/// `.http` files as load tests.
@Suite struct LoadFileTests {
    private let load: LoadToolRun

    init() throws {
        load = try LoadToolRun()
    }

    private func run(_ text: String, _ options: [String]) throws -> (tool: ToolRun, result: LoadResult) {
        try load.write("shop.http", text)
        return try load.run([load.path("shop.http")] + options)
    }

    private func targets(_ options: [String]) throws -> [String] {
        try load.write(
            "shop.http",
            """
            @id = {{$uuid}}

            GET HOST/{{id}}?number={{$randomInt 0 1000000}}

            ###
            GET HOST/{{id}}/items/{{$guid}}
            """)
        let (tool, _, requests) = try load.runSendingAll([load.path("shop.http")] + options)
        #expect(tool.status == 0, "\(tool.errors)")
        return requests.map(\.target).sorted()
    }

    /// By seed, scenario, user and iteration, so that parts draw what the whole plan draws.
    @Test func randomValuesRepeatWithASeed() throws {
        let arrivals = ["--rate", "100", "-d", "300ms", "--max-users", "100"]
        let whole = try targets(arrivals + ["--seed", "7"])
        #expect(whole.count == 60 && Set(whole).count == 60)
        #expect(try targets(arrivals + ["--seed", "7"]) == whole)
        #expect(try Set(targets(arrivals + ["--seed", "8"])).isDisjoint(with: whole))
        let parts = try (1...3).flatMap { try targets(arrivals + ["--seed", "7", "--share", "\($0)/3"]) }
        #expect(parts.sorted() == whole)
        // Without a seed they differ.
        #expect(try Set(targets(arrivals)).isDisjoint(with: targets(arrivals)))
        let user = ["--users", "1", "-n", "8", "--seed", "7"]
        let first = try targets(user)
        #expect(try targets(user) == first && Set(first).isDisjoint(with: whole))
    }

    @Test func arrivalsOfTheWarmUpHaveRandomValuesOfTheirOwn() throws {
        let all = try targets(["--rate", "50", "-d", "200ms", "--warm-up", "200ms", "--max-users", "50", "--seed", "7"])
        #expect(all.count >= 20 && Set(all).count == all.count)
    }

    @Test func usersRunTheChainWithCapturesAndCookies() throws {
        try load.server.on(
            "/login",
            [
                .readBody,
                .send(
                    "HTTP/1.1 200 OK\r\nSet-Cookie: session=s1\r\nContent-Length: 16\r\n\r\n{\"token\": \"t-1\"}"),
            ])
        let (tool, result) = try run(
            """
            @token = {{login.response.body.token}}

            # @name login
            POST HOST/login
            Content-Type: application/json

            {"user": "ada"}

            ### order
            GET HOST/order?user={{login.request.body.$.user}}
            Authorization: Bearer {{token}}
            ?? status == 200
            ?? body contains ok
            """, ["-n", "20", "--users", "2"])
        #expect(tool.status == 0 && tool.errors.isEmpty, "\(tool.errors) \(tool.text)")
        #expect(result.plan == "shop" && result.requests.map(\.name) == ["login", "order"])
        #expect(result.total.counts.due == 20 && result.total.rejected == 0)
        let orders = load.server.requests.filter { $0.method == "GET" }
        // The last request may be a login.
        #expect(orders.count == 9 || orders.count == 10)
        #expect(result.checks.map(\.name) == ["order: status == 200", "order: body contains ok"])
        #expect(result.checks.allSatisfy { $0.passed == UInt64(orders.count) && $0.failed == 0 })
        #expect(result.scenarios.map(\.completed) == [UInt64(orders.count)])
        #expect(orders.allSatisfy { $0.target == "/order?user=ada" })
        #expect(orders.allSatisfy { $0.values(of: "authorization") == ["Bearer t-1"] })
        #expect(orders.allSatisfy { $0.values(of: "cookie") == ["session=s1"] })
        // The jar of a user begins empty, and is not that of the other one.
        let logins = load.server.requests.filter { $0.method == "POST" }
        #expect(logins.count { $0.values(of: "cookie").isEmpty } == 2)
    }

    @Test func aFailureEndsTheIteration() throws {
        try load.server.on("/b", [LoadToolRun.broken])
        let text = """
            ### a
            # @expect 200
            GET HOST/a
            ### b
            GET HOST/b
            ### c
            GET HOST/c
            """
        let (tool, result) = try run(text, ["-n", "10", "--users", "1", "--threshold", "b:errors<1%"])
        #expect(tool.status == 99 && tool.errors.contains("b:errors<1% is not met: 100.00 %"), "\(tool.errors)")
        #expect(result.requests.map(\.name) == ["a", "b"])
        #expect(result.scenarios.map(\.failed) == [5] && result.requests.map(\.rejected) == [0, 5])
        let keeping = try run(text, ["-n", "9", "--users", "1", "--keep-going"])
        #expect(keeping.result.requests.map(\.counts.due) == [3, 3, 3] && keeping.result.scenarios[0].failed == 3)
    }

    @Test func anExpectedStatusIsNoError() throws {
        try load.server.on("/none", [.send("HTTP/1.1 404 X\r\nContent-Length: 0\r\n\r\n")])
        let text = """
            # @expect 404
            GET HOST/none
            """
        let good = try run(text, ["-n", "3", "--users", "1", "--threshold", "checks>=100%"])
        #expect(good.tool.status == 0 && good.result.total.rejected == 0, "\(good.tool.errors)")
        let bad = try run(text.replacing("404", with: "200"), ["-n", "3", "--users", "1"])
        #expect(bad.result.total.rejected == 3 && bad.result.checks.map(\.failed) == [3])
        #expect(bad.tool.text.contains("expected status == 200 (line 1), got 404"), "\(bad.tool.text)")
    }

    @Test func weightsMakeAMix() throws {
        let (tool, result) = try run(
            """
            ### often
            # @weight 4
            GET HOST/often?id={{$randomInt 1 9}}
            ### never
            # @weight 0
            GET HOST/never
            ### seldom
            GET HOST/seldom
            """, ["-n", "200", "--users", "2"])
        #expect(tool.status == 0, "\(tool.errors)")
        let counts = Dictionary(result.requests.map { ($0.name, $0.counts.due) }) { first, _ in first }
        #expect(counts["never"] == nil && (120...190).contains(counts["often"] ?? 0), "\(counts)")
        #expect((counts["often"] ?? 0) + (counts["seldom"] ?? 0) == 200)
    }

    @Test func variablesComeFromCommandLineDataAndEnvironment() throws {
        try load.write("d.csv", "a,b\ndata-a,data-b\n")
        try load.write("env.json", "{\"dev\": {\"a\": \"env-a\", \"c\": \"env-c\"}}")
        let (tool, _) = try run(
            "@b = file-b\nGET HOST/{{a}}/{{b}}/{{c}}",
            [
                "-n", "1", "--users", "1", "--feed", load.path("d.csv"), "--variable", "a=line-a", "--env", "dev",
                "--env-file", load.path("env.json"),
            ])
        #expect(tool.status == 0 && load.server.requests.map(\.target) == ["/line-a/data-b/env-c"], "\(tool.errors)")
    }

    @Test func aUserThinksAfterARequest() throws {
        // The second request would be due after an hour.
        let (tool, result) = try blockWithEnoughTime("the first request was answered") { time in
            let run = try run(
                "# @think 1h\nGET HOST/a\n###\nGET HOST/b",
                ["-d", time.optionText, "--users", "1", "--grace", "0"])
            return run.result.total.counts.answered > 0 ? run : nil
        }
        #expect(tool.status == 0, "\(tool.errors)")
        #expect(Set(load.server.requests.map(\.target)) == ["/a"] && result.scenarios[0].interrupted == 1)
    }

    @Test func aMissingCaptureFailsTheIteration() throws {
        let (tool, result) = try run(
            "# @name a\nGET HOST/a\n###\nGET HOST/{{a.response.body.token}}", ["-n", "2", "--users", "1"])
        #expect(result.scenarios[0].failed >= 1 && tool.text.contains("is not JSON"), "\(tool.text)")
    }

    @Test(arguments: [
        ("GET HOST/{{a}}", ":1:", "the variable 'a' is not defined"),
        (
            "# @weight 2\nGET HOST/{{a.response.body.x}}\n###\n# @name a\nGET HOST/", ":2:",
            "a file with '@weight' has no order"
        ),
        ("# @think soon\nGET HOST/", ":1:3: ", "'@think' requires a time such as 1s"),
        ("# @think 2s-1s\nGET HOST/", ":1:3: ", "'@think' requires"),
        ("# @weight -1\nGET HOST/", ":1:3: ", "'@weight' requires a number from 0 to 1,000,000"),
        ("# @weight 0\nGET HOST/", "errand: ", "no request has a weight above 0"),
        ("GET HOST/\n\n# @think 1s\nx", ":3:3: ", "'@think' must be above the request line"),
    ]) func mistakesHaveTheirPlace(_ text: String, _ place: String, _ message: String) throws {
        try load.write("a.http", text)
        let run = try ToolRun(["bench", load.path("a.http"), "-n", "1"])
        #expect(run.status == 65 && run.errors.contains(place) && run.errors.contains(message), "\(run.errors)")
        #expect(load.server.counts.connections == 0)
    }

    @Test func chainsTakeTheSameFile() throws {
        try load.write("a.http", "# @think 1h\n# @weight 2\nGET HOST/a")
        #expect(try ToolRun(["chain", load.path("a.http")]).status == 0)
    }

    @Test(arguments: [
        ("1s", ThinkTime.fixed(Duration.seconds(1))),
        ("500ms-2s", ThinkTime.uniform(Duration.milliseconds(500)...Duration.seconds(2))),
        ("0-1.5", ThinkTime.uniform(Duration.zero...Duration.milliseconds(1500))),
        ("~2s", ThinkTime.exponential(mean: Duration.seconds(2))), ("0", ThinkTime.fixed(Duration.zero)),
    ]) func thinkTimesAreRead(_ text: String, _ time: ThinkTime) {
        #expect(ThinkArgument(argument: text)?.time == time)
    }

    @Test(arguments: [
        ("http://a/x.json", false), ("localhost/a.json", false), ("localhost:80/a.http", false), ("missing.http", true),
        ("/tmp/missing.http", true), ("example.com", false), ("-", true),
    ]) func filesAreToldFromURLs(_ word: String, _ isFile: Bool) throws {
        switch try BenchTarget([word], isLoad: false) {
        case .url, .urls: #expect(!isFile)
        case .files, .plan: #expect(isFile)
        }
    }

    @Test func kindsAreNotMixed() throws {
        try load.write("a.http", "GET HOST/")
        let run = try ToolRun(["bench", load.path("a.http"), load.server.url("/")])
        #expect(run.status == 64 && run.errors.contains("cannot be mixed"), "\(run.errors)")
        let missing = try ToolRun(["bench", load.path("b.http")])
        #expect(missing.status == 66 && missing.errors.contains("no such file"), "\(missing.errors)")
    }
}
