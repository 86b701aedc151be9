import ErrandTesting
import Foundation
import Testing

/// `errand chain` against a server.
@Suite struct ChainRunTests {
    @Test func handsTheTokenOver() throws {
        let run = try HTTPFileRun()
        try run.server.on(
            "/login", [.readBody, HTTPFileRun.answer("200 OK", #"{"token": "t/1"}"#, headers: "X-Id: 7\r\n")])
        try run.server.on("/me", [.echo])
        let text = """
            @token = {{login.response.body.$.token}}

            ### Log in
            # @name login
            POST HOST/login
            Content-Type: application/json

            {"user": "ada"}

            ### Me
            GET HOST/me
                ?id={{login.response.headers.X-Id}}
                &user={{login.request.body.$.user}}
            Authorization: Bearer {{token}}
            """
        let table = try run.run("chain", text)
        #expect(table.status == 0 && table.errors.isEmpty, "\(table.errors)")
        #expect(table.rows.map { $0[0] } == ["login", "Me"])
        #expect(table.rows.map { $0[2] } == ["200", "200"] && table.rows[0][4] == "16" && table.rows[0][5] == "ok")
        #expect(table.text.hasSuffix("2 requests: 2 ok, 0 failed\n"))
        let requests = run.server.requests
        #expect(requests.map(\.target) == ["/login", "/me?id=7&user=ada"])
        #expect(requests[0].body == Array(#"{"user": "ada"}"#.utf8))
        #expect(requests[1].values(of: "authorization") == ["Bearer t/1"])

        let json = try run.run("chain", text, ["--json"]).jsonArray()
        #expect(json.count == 2)
        for object in json {
            #expect(Set(object.keys) == ["file", "name", "method", "url", "status", "ms", "bytes", "error"])
            #expect(object["error"] is NSNull && object["status"] as? Int == 200)
            #expect(object["ms"] as? Double ?? 0 > 0)
        }
        #expect(json[0]["name"] as? String == "login" && json[0]["method"] as? String == "POST")
        #expect(json[0]["bytes"] as? Int == 16)
        #expect(json[1]["url"] as? String == run.server.url("/me?id=7&user=ada"))
    }

    @Test func theExampleRuns() throws {
        let run = try HTTPFileRun()
        try run.server.on("/login", [.readBody, HTTPFileRun.answer("200 OK", #"{"token": "abc"}"#)])
        try run.server.on("/users", [.readBody, HTTPFileRun.answer("201 Created", #"{"id": 42}"#)])
        try run.server.on("/users/42", [.echo])
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("docs/examples/users.http").path
        let chain = try ToolRun([
            "chain", file, "--env", "local", "--variable", "host=http://127.0.0.1:\(run.server.port)",
        ])
        #expect(chain.status == 0, "\(chain.errors)")
        let requests = run.server.requests
        #expect(requests.map(\.method) == ["POST", "POST", "GET"])
        #expect(requests[0].body == Array(#"{"name": "ada", "password": "x"}"#.utf8))
        #expect(requests.dropFirst().allSatisfy { $0.values(of: "authorization") == ["Bearer abc"] })
        #expect(requests[2].target.hasPrefix("/users/42?fields=name&at="))
    }

    private static let three = """
        # @name one
        GET HOST/one
        ###
        # @name two
        GET HOST/two?a={{one.response.headers.X-A}}
        ###
        # @name three
        GET HOST/three
        """

    @Test func endsWithAFailure() throws {
        let run = try HTTPFileRun()
        try run.server.on("/one", [HTTPFileRun.answer("404 Not Found", "gone", headers: "X-A: b\r\n")])
        try run.server.on(nil, [.echo])
        let ended = try run.run("chain", ChainRunTests.three)
        #expect(ended.status == 22)
        // A refused response is shown all the same.
        #expect(ended.rows[0][2] == "404" && ended.rows[0][4] == "4" && ended.rows[0][5] == "statusNotAccepted")
        #expect(ended.rows[1][5] == "notRun" && ended.rows[2][5] == "notRun")
        #expect(ended.text.hasSuffix("3 requests: 0 ok, 1 failed, 2 not run\n"))
        #expect(ended.errors.contains("errand: one: statusNotAccepted") && !ended.errors.contains("two"))
        #expect(run.server.counts.requests == 1)

        let all = try run.run("chain", ChainRunTests.three, ["--keep-going", "--json"])
        #expect(all.status == 22)
        #expect(try all.jsonArray().map { $0["status"] as? Int } == [404, 200, 200])
        let error = try #require(try all.jsonArray()[0]["error"] as? [String: Any])
        #expect(error["kind"] as? String == "statusNotAccepted" && error["exit_code"] as? Int == 22)
        // What was refused can be referred to.
        #expect(run.server.requests.last { $0.target.hasPrefix("/two") }?.target == "/two?a=b")
    }

    @Test func saysWhatAStepLacks() throws {
        let run = try HTTPFileRun()
        try run.server.on("/one", [.reset])
        try run.server.on(nil, [.echo])
        let ended = try run.run("chain", ChainRunTests.three, ["--keep-going", "--json"])
        let json = try ended.jsonArray()
        #expect(json.map { $0["status"] as? Int } == [nil, nil, 200])
        let error = try #require(json[1]["error"] as? [String: Any])
        #expect(error["kind"] as? String == "invalidFile" && error["exit_code"] as? Int == 65)
        #expect((error["message"] as? String ?? "").hasSuffix("a.http:5:34: 'one' has no response"))
        // The first failure counts.
        #expect(ended.status == 14)
    }

    @Test func runsSome() throws {
        let run = try HTTPFileRun()
        try run.server.on(nil, [.echo])
        let some = try run.run("chain", ChainRunTests.three, ["--only", "three", "--only", "one"])
        #expect(some.status == 0 && some.rows.map { $0[0] } == ["one", "three"])
        let unnamed = "GET HOST/1\n### Two\nGET HOST/2\n###\nGET HOST/3"
        let numbered = try run.run("batch", unnamed, ["--only", "#3", "--only", "Two"])
        #expect(numbered.status == 0 && numbered.rows.map { $0[0] } == ["Two", "#3"], "\(numbered.errors)")
        let without = try run.run("chain", ChainRunTests.three, ["--only", "two"])
        #expect(
            without.status == 65
                && without.errors.contains("a.http:5:34: the variable refers to 'one', which --only excludes"))
        let unknown = try run.run("chain", ChainRunTests.three, ["--only", "four"])
        #expect(unknown.status == 64 && unknown.errors.contains("no request is named 'four'"))
        #expect(run.server.counts.requests == 4)
    }

    @Test func keepsCookies() throws {
        let run = try HTTPFileRun()
        try run.server.on("/set", [HTTPFileRun.answer(headers: "Set-Cookie: a=b\r\n")])
        try run.server.on(nil, [.echo])
        let text = "GET HOST/set\n###\nGET HOST/x\n###\n# @no-cookie-jar\nGET HOST/x"
        #expect(try run.run("chain", text).status == 0)
        #expect(run.server.requests.map { $0.values(of: "cookie") } == [[], ["a=b"], []])
    }

    @Test func followsRedirects() throws {
        let run = try HTTPFileRun()
        try run.server.on("/a", [HTTPFileRun.answer("302 Found", headers: "Location: /b\r\n")])
        try run.server.on(nil, [.echo])
        let text =
            "GET HOST/a\n###\n# @no-redirect\n# @name stay\nGET HOST/a\n###\nGET HOST/{{stay.response.headers.Location}}"
        let json = try run.run("chain", text, ["--json"]).jsonArray()
        #expect(json.map { $0["status"] as? Int } == [200, 302, 200])
        #expect(run.server.requests.map(\.target) == ["/a", "/b", "/a", "//b"])
    }

    @Test func authorizes() throws {
        let run = try HTTPFileRun()
        try run.server.on("/digest", [.digest(username: "ada", password: "x:y"), .echo])
        try run.server.on(nil, [.echo])
        let text = """
            GET HOST/a
            Authorization: Basic ada x:y
            ###
            GET HOST/b
            Authorization: Basic ada:x:y
            ###
            GET HOST/c
            Authorization: Basic YWRhOng6eQ==
            ###
            GET HOST/digest
            Authorization: Digest ada {{password}}
            """
        #expect(try run.run("chain", text, ["--variable", "password=x:y"]).status == 0)
        for request in run.server.requests.prefix(3) {
            #expect(request.values(of: "authorization") == ["Basic YWRhOng6eQ=="])
        }
        #expect(run.server.requests.last?.values(of: "authorization").first?.hasPrefix("Digest ") == true)
    }

    @Test func sendsBodies() throws {
        let run = try HTTPFileRun()
        try run.server.on(nil, [.readBody, .echo])
        try run.write("raw", "{{a}}\r\n")
        try run.write("template", "1{{a}}\r\n{{a}}2")
        try FileManager.default.createDirectory(at: run.folder.file("sub"), withIntermediateDirectories: false)
        try Data([0xE9]).write(to: run.folder.file("sub/latin"))
        let text = """
            @a = ä b
            POST HOST/
            Content-Length: 1

            < ./raw
            ###
            POST HOST/

            <@ template
            ###
            POST HOST/

            x
            <@latin1 sub/{{name}}
            < raw
            ###
            POST HOST/
            Content-Type: multipart/form-data; boundary=b

            --b
            Content-Disposition: form-data; name="f"

            < raw
            --b--
            ###
            POST HOST/
            Content-Type: {{form}}

            name={{a}}
              &x=%20+
            &y=1&
            z=
            ###
            POST HOST/
            Content-Type: application/x-ndjson

            1
            2

            ###
            PUT HOST/
            """
        let form = "application/x-www-form-urlencoded; charset=utf-8"
        let chain = try run.run("chain", text, ["--variable", "form=\(form)", "--variable", "name=latin"])
        #expect(chain.status == 0, "\(chain.errors)")
        #expect(
            run.server.requests.map { String(decoding: $0.body, as: UTF8.self) } == [
                "{{a}}\r\n", "1ä b\r\nä b2", "x\né\n{{a}}\r\n",
                "--b\r\nContent-Disposition: form-data; name=\"f\"\r\n\r\n{{a}}\r\n\r\n--b--",
                "name=%C3%A4%20b&x=%20+&y=1&z=", "1\n2\n", "",
            ])
        #expect(run.server.requests[0].values(of: "content-type").isEmpty)
        #expect(run.server.requests[0].values(of: "content-length") == ["7"])
    }

    @Test func reachesTheHostOfTheHeader() throws {
        let run = try HTTPFileRun()
        try run.server.on(nil, [.echo])
        let host = "127.0.0.1:\(run.server.port)"
        #expect(try run.run("chain", "GET /a?b\nHost: {{h}}\n###\n{{h}}/c", ["--variable", "h=\(host)"]).status == 0)
        #expect(run.server.requests.map(\.target) == ["/a?b", "/c"])
        #expect(run.server.requests.allSatisfy { $0.values(of: "host") == [host] })
        let without = try run.run("chain", "GET /a")
        #expect(without.status == 65 && without.errors.contains("a.http:1:5: the URL has no host"))
    }

    @Test func takesEnvironments() throws {
        let run = try HTTPFileRun()
        try run.server.on(nil, [.echo])
        try run.write("http-client.env.json", #"{"dev": {"a": "1", "b": "1"}, "$shared": {"c": "1"}}"#)
        try run.write("http-client.private.env.json", #"{"dev": {"b": "2"}}"#)
        try run.write("other.json", #"{"$shared": {"a": "3", "b": "3", "c": "3"}}"#)
        let text = "GET HOST/{{a}}{{b}}{{c}}"
        #expect(try run.run("chain", text, ["--env", "dev"]).status == 0)
        #expect(try run.run("chain", text, ["--env", "dev", "--variable", "a=x", "--variable", "a=y=z"]).status == 0)
        #expect(try run.run("chain", text, ["--env-file", run.folder.file("other.json").path]).status == 0)
        #expect(run.server.requests.map(\.target) == ["/121", "/y=z21", "/333"])
        let none = try run.run("chain", text, ["--env", "prod"])
        #expect(none.status == 64 && none.errors.contains("the environment 'prod' does not exist; available: dev"))
    }

    @Test func readsStandardInput() throws {
        let server = try ScriptedServer()
        try server.on(nil, [.echo])
        let chain = try ToolRun(["chain", "-"], input: "GET \(server.url("/x"))\n")
        #expect(chain.status == 0 && server.requests.map(\.target) == ["/x"])
        let bad = try ToolRun(["chain", "-"], input: "\nnonsense\n")
        #expect(
            bad.status == 65
                && bad.errors == "errand: standard input:2:1: 'nonsense' is neither a method nor a URL, "
                    + "expected a request line\n"
        )
    }

    @Test func timesOut() throws {
        let run = try HTTPFileRun()
        try run.server.on("/late", [.sleep(milliseconds: 600), HTTPFileRun.answer()])
        try run.server.on(nil, [.stall])
        func kinds(_ text: String, _ arguments: [String]) throws -> [String?] {
            let chain = try run.run("chain", text, ["--connect-timeout", "240s", "--json"] + arguments)
            #expect(chain.status == 13)
            return try chain.jsonArray().map { ($0["error"] as? [String: Any])?["kind"] as? String }
        }
        let one = try kinds("# @timeout 200 ms\nGET HOST/\n###\nGET HOST/late", ["--keep-going"])
        #expect(one == ["timeoutIdle", nil])
        // Apart: with both, who wakes up late finds the two of them over.
        #expect(try kinds("GET HOST/", ["--idle-timeout", "240s", "--timeout", "500ms"]) == ["timeoutTotal"])
    }

    @Test func printsWhatItHasWhenInterrupted() throws {
        let run = try HTTPFileRun()
        try run.server.on("/a", [HTTPFileRun.answer()])
        try run.server.on(nil, [.stall])
        let text = "GET HOST/a\n###\nGET HOST/b\n###\nGET HOST/c"
        let chain = try run.run(
            "chain", text, ["--keep-going"], interruptWhen: { run.server.counts.requests == 2 })
        #expect(chain.status == 130 && chain.errors.contains("interrupted"))
        #expect(chain.rows.map { $0[5] } == ["ok", "cancelled", "notRun"])
        #expect(run.server.counts.requests == 2)
    }

    @Test func showsNoSecrets() throws {
        let run = try HTTPFileRun()
        try run.server.on("/login", [.readBody, HTTPFileRun.answer("200 OK", "hunter2")])
        try run.server.on(nil, [HTTPFileRun.answer("401 Unauthorized", "hunter2")])
        let text = """
            # @name login
            POST HOST/login

            hunter2
            ###
            GET http://ada:hunter2@127.0.0.1:\(run.server.port)/x?access_token={{login.response.body.*}}
            ###
            GET HOST/x
            Authorization: Bearer {{login.response.body.*}}\u{1}
            Bad: {{$processEnv PATH}}
            ###
            GET HOST/x?password=hunter2{{login.response.body.$.a}}
            ###
            GET http://ada:hunter2@[bad/?token=hunter2
            """
        for option in [["--json"], []] {
            let chain = try run.run("chain", text, ["--keep-going"] + option)
            #expect(chain.status != 0)
            #expect(
                !chain.text.contains("hunter2") && !chain.errors.contains("hunter2"), "\(chain.text)\(chain.errors)")
            #expect(chain.text.contains("REDACTED"))
        }
    }
}
