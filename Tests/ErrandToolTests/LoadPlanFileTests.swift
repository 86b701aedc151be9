import Errand
import ErrandLoad
import ErrandTesting
import Foundation
import Testing

@testable import errand

/// Plans in JSON.
@Suite struct LoadPlanFileTests {
    private let load: LoadToolRun

    init() throws {
        load = try LoadToolRun()
    }

    @Test func aPlanHasEverything() throws {
        try load.write("ids.csv", "id\n7\n")
        try load.write("shop.http", "### browse\nGET HOST/browse/{{word}}\nX-Id: {{id}}")
        try load.write("body", "from a file")
        try load.write(
            "plan.json",
            """
            {
              "name": "release",
              "seed": 3,
              "grace": "1s",
              "thresholds": ["errors<1%", {"condition": "api/*:p99<10min", "abort": true}],
              "scenarios": [
                {
                  "files": "shop.http", "variables": {"word": "w"}, "data": [{"file": "ids.csv", "order": "random"}],
                  "rate": 20, "duration": "500ms", "max_users": 50
                },
                {
                  "name": "api", "users": 1, "duration": "500ms",
                  "requests": [
                    {
                      "name": "put", "url": "HOST/put", "method": "PUT", "headers": {"X-A": "1"}, "body_file": "body",
                      "expect": "200", "think": "1h"
                    }
                  ]
                }
              ]
            }
            """)
        // The user of the API has half a second to send its request.
        let (tool, result, requests) = try load.runSendingAll(
            [load.path("plan.json"), "--threshold", "never_sent<=0"],
            isComplete: { result in
                let counts = result.total.counts
                return counts.answered == counts.due && result.requests.contains { $0.scenario == "api" }
            })
        #expect(tool.status == 0 && tool.errors.isEmpty, "\(tool.errors)")
        #expect(result.plan == "release" && result.requests.map(\.scenario) == ["shop", "api"])
        #expect(result.requests[0].counts.due == 10 && result.requests[1].counts.due == 1)
        #expect(result.thresholds.map(\.isMet) == [true, true, true])
        #expect(result.thresholds.map(\.threshold.aborts) == [false, true, false])
        let browses = requests.filter { $0.method == "GET" }
        #expect(
            browses.count == 10 && browses.allSatisfy { $0.target == "/browse/w" && $0.values(of: "x-id") == ["7"] })
        let put = try #require(requests.first { $0.method == "PUT" })
        #expect(put.body == Array("from a file".utf8) && put.values(of: "x-a") == ["1"])
    }

    @Test func requestsWithoutVariablesNeedNoTasks() throws {
        try load.write(
            "plan.json",
            """
            {
              "request_limit": 30,
              "scenarios": [
                {
                  "name": "mix", "users": 3, "duration": "60s",
                  "requests": [{"url": "HOST/a", "weight": 2}, {"url": "HOST/b?x=1"}, {"url": "HOST/c", "weight": 0}]
                }
              ]
            }
            """)
        let (tool, result) = try load.run([load.path("plan.json"), "--name", "other", "--seed", "9"])
        #expect(tool.status == 0, "\(tool.errors)")
        #expect(result.plan == "other" && result.total.counts.due == 30 && result.total.counts.answered == 30)
        #expect(result.requests.map(\.name) == ["/a", "/b", "/c"].map { "GET " + load.server.url($0) })
        #expect(result.requests[2].counts.due == 0 && load.server.requests.count == 30)
    }

    @Test func theExampleIsAPlan() throws {
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("docs/examples/load-plan.json").path
        let plan = try LoadPlanFile.read(file, LoadCommon(configuration: Client.Configuration()))
        try plan.validate()
        #expect(plan.scenarios.map(\.name) == ["shop", "health"])
        #expect(plan.thresholds.map(\.description).contains("health/*:p99<50ms") && plan.warmUp == .seconds(10))
    }

    @Test func theCommandLineOverridesVariables() throws {
        try load.write(
            "plan.json",
            """
            {
              "request_limit": 1,
              "scenarios": [
                {
                  "name": "s", "users": 1, "duration": "60s", "variables": {"path": "plan", "host": "HOST"},
                  "requests": [{"url": "{{host}}/{{path}}"}]
                }
              ]
            }
            """)
        let (tool, _) = try load.run([load.path("plan.json"), "--variable", "path=line"])
        #expect(tool.status == 0 && load.server.requests.map(\.target) == ["/line"], "\(tool.errors)")
    }

    private static let scenario =
        "\"name\": \"s\", \"users\": 1, \"duration\": \"1s\", \"requests\": [{\"url\": \"http://h/\"}]"

    @Test(arguments: [
        ("{\n  \"scenarios\": [,]}", ":2:17: ", "a value is expected"),
        ("{}", ":1:1: ", "the member 'scenarios' is missing"),
        ("{\"scenarios\": []}", "", "the plan has no scenario"),
        (
            "{\"scenarios\": [{}],\n \"grace\": \"x\"}", ":1:16: scenarios[0]: ",
            "the member 'duration' or 'stages' is missing"
        ),
        ("{\"scenarios\": [],\n \"warm_up\": \"soon\"}", ":2:13: warm_up: ", "\"soon\" is not a time above 0"),
        (
            "{\"scenarios\": [{\n\"user\": 1}]}", ":2:9: scenarios[0].user: ",
            "this member is not known, expected one of "
        ),
        (
            "{\"scenarios\": [{\"users\": 1.5, \"duration\": \"1s\"}]}", ":1:26: scenarios[0].users: ",
            "an integer is expected"
        ),
        (
            "{\"scenarios\": [{\"rate\": 5, \"duration\": \"1s\"}]}", ":1:16: scenarios[0]: ",
            "the member 'max_users' is missing"
        ),
        (
            "{\"scenarios\": [{\"stages\": [{\"to\": 5}]}]}", ":1:28: scenarios[0].stages[0]: ",
            "a stage requires 'duration' and 'to'"
        ),
        (
            "{\"scenarios\": [{\"name\": \"s\", \"users\": 1, \"duration\": 1, \"requests\": [{\"url\": \"http://h/{{a}}\"}]}]}",
            ":1:", "the variable 'a' is not defined"
        ),
        ("{\"scenarios\": [{\(scenario)}],\n \"thresholds\": [\"p99\"]}", ":2:17: thresholds[0]: ", "at character 4"),
        ("{\"scenarios\": [{\(scenario)}, {\(scenario)}]}", "", "two scenarios have the name 's'"),
        ("{\"a\": 1, \"a\": 2}", ":1:10: ", "the member 'a' occurs twice"),
        ("{\"a\": tru}", ":1:7: ", "'tru' is neither a number nor text in quotes"),
        ("{\"a\": \"x}", ":1:7: ", "the text is not closed by a quote"),
        ("[", ":1:2: ", "the file ends where a value is expected"),
        ("{\"scenarios\": []} x", ":1:19: ", "text after the end of the plan"),
    ]) func mistakesHaveTheirPlace(_ text: String, _ place: String, _ message: String) throws {
        try load.write("plan.json", text)
        let run = try ToolRun(["bench", load.path("plan.json")])
        #expect(run.status == 65, "\(run.errors)")
        #expect(run.errors.contains("plan.json" + place) && run.errors.contains(message), "\(run.errors)")
    }

    /// Whatever stands in a plan, the answer is JSON or an error with a place in it.
    @Test(arguments: 0..<4) func neverTraps(_ seed: UInt64) throws {
        let pieces = [
            "{", "}", "[", "]", ":", ",", "\"", "\\", "\\u00", "\\ud83d", "\"a\"", "\"b\"", "é", "\u{0}", "\n", " ",
            "1", "-",
            "1e9", "1e999", ".5", "true", "null", "nul", "\u{FEFF}", "{\"a\":", "[[",
        ]
        var random = SeededGenerator(seed: seed)
        var read = 0
        for _ in 0..<3000 {
            var text = ""
            for _ in 0..<Int.random(in: 0...12, using: &random) { text += pieces.randomElement(using: &random) ?? "" }
            var bytes = Array(text.utf8)
            if Int.random(in: 0..<8, using: &random) == 0, !bytes.isEmpty {
                bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            let lineCount = bytes.count { $0 == 0x0A } + 1
            switch Result(catching: { () throws(PlanJSON.Failure) in try PlanJSONParser.parse(bytes) }) {
            case .success: read += 1
            case .failure(let failure):
                #expect((1...lineCount).contains(failure.position.line) && failure.position.column >= 1)
                #expect(!failure.problem.isEmpty)
            }
        }
        #expect(read > 0)
        let deep = String(repeating: "[", count: 100_000)
        #expect(throws: PlanJSON.Failure.self) { try PlanJSONParser.parse(Array(deep.utf8)) }
    }

    @Test func whatThePlanSaysIsNotSaidTwice() throws {
        try load.write("plan.json", "{\"scenarios\": [{\(Self.scenario)}]}")
        for options in [["-d", "1s"], ["--users", "2"], ["-n", "5"], ["--env", "dev"]] {
            let run = try ToolRun(["bench", load.path("plan.json")] + options)
            #expect(
                run.status == 64 && run.errors.contains("\(options[0]) cannot be used with a plan"), "\(run.errors)")
        }
    }

    @Test func aMissingFileIsTold() throws {
        let run = try ToolRun(["bench", load.path("plan.json")])
        #expect(run.status == 66 && run.errors.contains("no such file"), "\(run.errors)")
        try load.write(
            "plan.json",
            "{\"scenarios\": [{\"name\": \"s\", \"users\": 1, \"duration\": 1, \"data\": [{\"file\": \"no.csv\"}], \"requests\": []}]}"
        )
        let data = try ToolRun(["bench", load.path("plan.json")])
        #expect(data.status == 66 && data.errors.contains("data[0].file: cannot read"), "\(data.errors)")
    }
}
