import Errand
import ErrandTesting
import HTTPTypes
import Testing

@testable import ErrandClient
@testable import ErrandModel

@Suite struct RedactionTests {
    @Test(arguments: [
        ("http://h/a?b=1", "http://h/a?b=1"),
        ("http://h/a?token=x&b=1", "http://h/a?token=REDACTED&b=1"),
        ("http://h/a?b=1&Access-Token=x%26y", "http://h/a?b=1&Access-Token=REDACTED"),
        ("http://h/a?accessToken=x", "http://h/a?accessToken=REDACTED"),
        ("http://h/a?user[password]=x&user[name]=ada", "http://h/a?user[password]=REDACTED&user[name]=ada"),
        ("http://h/a?user%5Bpassword%5D=x", "http://h/a?user%5Bpassword%5D=REDACTED"),
        ("http://h/a?to%6ben=x", "http://h/a?to%6ben=REDACTED"),
        ("http://h/a?token", "http://h/a?token"),
        ("http://h/a?token=", "http://h/a?token=REDACTED"),
        ("http://h/a?tokens=3&monkey=1", "http://h/a?tokens=3&monkey=1"),
        ("http://ada:x@h:81/a", "http://REDACTED@h:81/a"),
        ("http://a@b:x@h/a@b", "http://REDACTED@h/a@b"),
        ("http://h/cb#access_token=x&state=1", "http://h/cb#access_token=REDACTED&state=1"),
        ("http://h/a?%zz=1&key=%", "http://h/a?%zz=1&key=REDACTED"),
        (
            "http://h/a?next=http%3A%2F%2Fu%3Ap%40g%2F%3Ftoken%3Dx%26b%3D1&c=%41",
            "http://h/a?next=http%3A%2F%2FREDACTED%40g%2F%3Ftoken%3DREDACTED%26b%3D1&c=%41"
        ),
        ("http://h/a?next=http://g/?token=x", "http://h/a?next=http://g/?token=REDACTED"),
        ("http://h/a?next=%2Fcb%3Fcode%3D1%26key%3Dx", "http://h/a?next=%2Fcb%3Fcode%3D1%26key%3DREDACTED"),
        ("http://h/a?next=%2F%2Fg%2F%23id_token%3Dx", "http://h/a?next=%2F%2Fg%2F%23id_token%3DREDACTED"),
        (
            "http://h/a?next=http%253A%252F%252Fg%252F%253Fsig%253Dx",
            "http://h/a?next=http%3A%2F%2Fg%2F%3Fsig%3DREDACTED"
        ),
        ("http://h/a?next=http%3A%2F%2Fg%2F%3Fb%3D1&c=a%20b", "http://h/a?next=http%3A%2F%2Fg%2F%3Fb%3D1&c=a%20b"),
        ("http://h/a?n=/a?n=/a?n=/a?n=/a?n=/a?n=1", "http://h/a?n=/a?n=/a?n=/a?n=/a?n=REDACTED"),
        ("", ""), ("a b\u{0}?key=1", "a b\u{0}?key=REDACTED"),
    ])
    func urls(given: String, shown: String) {
        #expect(Redaction.standard.url(given) == shown)
        #expect(Redaction.none.url(given) == given)
    }

    @Test func headerFields() {
        let fields: HTTPFields = [
            .authorization: "Bearer x", .cookie: "a=b", .accept: "a/b", .location: "http://h/?key=1",
        ]
        let shown = Redaction.standard.fields(fields)
        #expect(shown[.authorization] == "REDACTED" && shown[.cookie] == "REDACTED" && shown[.accept] == "a/b")
        #expect(shown[.location] == "http://h/?key=REDACTED")
        #expect(Redaction.none.fields(fields) == fields)
    }

    @Test(arguments: [
        ("Refresh", "5; url=http://h/?token=x", "5; url=http://h/?token=REDACTED"),
        ("Refresh", "0;URL='http://u:p@h/?a=1'", "0;URL='http://REDACTED@h/?a=1'"),
        ("Refresh", "0, http://h/?sig=x", "0, http://h/?sig=REDACTED"), ("Refresh", "5", "5"),
        ("Refresh", "5;", "5;"), ("Refresh", ";url=", ";url="),
        (
            "Link", "<http://h/?token=x&p=2>; rel=\"next\", </a>; rel=x",
            "<http://h/?token=REDACTED&p=2>; rel=\"next\", </a>; rel=x"
        ),
        ("Link", "<http://u:p@h/", "<http://REDACTED@h/"), ("Link", "", ""), ("link", "a>b", "a>b"),
        ("Destination", "http://u@h/x", "http://REDACTED@h/x"),
    ])
    func urlsWithinFields(name: String, given: String, shown: String) {
        #expect(Redaction.standard.value(given, ofHeader: name) == shown)
        #expect(Redaction.none.value(given, ofHeader: name) == given)
    }

    /// An error's message goes to logs, too.
    @Test(arguments: [
        "http://ada:s3cret@h/\u{1}", "//ada:s3cret@h", "ada:s3cret@h/x", "http:///ada:s3cret@h", "x?token=s3cret",
        "ada:s3cret@h", "http:/ada:s3cret@h", "http:\\ada:s3cret@h/x", "/x?next=%2F%3Fkey%3Ds3cret",
        "x\u{0}?access_token=s3cret",
    ])
    func urlsInMessages(url: String) {
        let client = Client.stubbed(.init { _ in .response(status: 200) }) { $0.baseURL = nil }
        let based = Client.stubbed(.init { _ in .response(status: 200) }) { $0.baseURL = url }
        for (client, path) in [(client, url), (based, "x")] {
            let error = #expect(throws: ErrandError.self) { try client.curlCommand(for: GetText(path: path)) }
            #expect(error == .invalidURL || error == .unsupportedScheme)
            #expect(error?.message.contains("s3cret") == false, "\(error?.message ?? "")")
            #expect(error.map { "\($0)".contains("s3cret") } == false)
        }
    }

    @Test func namesAreConfigurable() {
        var redaction = Redaction(headers: ["X-Mine"], parameters: ["my_name"], hidesCredentials: false)
        #expect(redaction.hides(header: "x-mine") && !redaction.hides(header: "Authorization"))
        #expect(redaction.url("http://u:p@h/?myName=1&token=2") == "http://u:p@h/?myName=REDACTED&token=2")
        redaction.headers.insert("X-Other")
        redaction.parameters = ["other"]
        #expect(redaction.hides(header: "x-other") && redaction.hides(parameter: "OTHER"))
        #expect(!redaction.hides(parameter: "my_name"))
        #expect(Redaction.none.isNone && !redaction.isNone)
    }

    @Test(arguments: [
        (#"{"name":"ada","password":"x\"y","n":1}"#, #"{"name":"ada","password":"REDACTED","n":1}"#),
        (
            #"{ "token" : 12, "a":[{"key":true},{"b":null}] }"#,
            #"{ "token" : "REDACTED", "a":[{"key":"REDACTED"},{"b":null}] }"#
        ),
        (#"{"secret":{"a":["}",1]},"b":2}"#, #"{"secret":"REDACTED","b":2}"#),
        (#"{"pass\u0077ord":"x"}"#, #"{"pass\u0077ord":"REDACTED"}"#),
        (#"["password","x"]"#, #"["password","x"]"#),
        (#"{"a":"password","b":"token\":1"}"#, #"{"a":"password","b":"token\":1"}"#),
        (#"{"password":"cut o"#, #"{"password":"REDACTED""#),
        (#"{"password": [1, {"a":"#, #"{"password": "REDACTED""#),
        (#"{"password""#, #"{"password""#), (#"{"a":"\"#, #"{"a":"\"#), ("", ""), (#""""#, #""""#),
    ])
    func jsonBodies(given: String, shown: String) {
        for type in ["application/json", "application/problem+json; charset=utf-8", "APPLICATION/JSON"] {
            let body = Redaction.standard.body(Array(given.utf8), contentType: type)
            #expect(String(decoding: body, as: UTF8.self) == shown)
        }
        #expect(Redaction.none.body(Array(given.utf8), contentType: "application/json") == Array(given.utf8))
    }

    /// Whatever is cut off, nothing of the secret is left, and no input makes it read beyond its end.
    @Test func jsonCutAnywhere() {
        let whole = Array(#"{"a":{"b":[1,"\\"]},"password":"s3cret\\","key":{"x":"s3cret"},"z":"\u00e9"}"#.utf8)
        for length in 0...whole.count {
            let shown = Redaction.standard.json(Array(whole[..<length]))
            #expect(!String(decoding: shown, as: UTF8.self).contains("s3"), "at \(length)")
        }
    }

    @Test func formsAndOtherBodies() {
        let form = Redaction.standard.body(
            Array("a=1&password=x&b=".utf8), contentType: "application/x-www-form-urlencoded; charset=utf-8")
        #expect(String(decoding: form, as: UTF8.self) == "a=1&password=REDACTED&b=")
        let text = Array("password=x".utf8)
        #expect(Redaction.standard.body(text, contentType: "text/plain") == text)
        #expect(Redaction.standard.body(text, contentType: nil) == text)
    }

    @Test(arguments: [
        "application/x-json", "application/jsonl", "application/json-seq", "text/json", "application/vnd.api+json",
        "text/plain",
        "", nil,
    ]) func bodiesThatAreJSON(type: String?) {
        let body = Redaction.standard.body(Array(" {\"password\": \"s3cret\"}".utf8), contentType: type)
        #expect(String(decoding: body, as: UTF8.self) == #" {"password": "REDACTED"}"#)
    }

    @Test func serverSentEvents() {
        let given = "event: a\r\ndata: {\"token\": 12}\r\n\r\n: \"token\": 1\ndata:[{\"b\":\"\\n\"}]\ndata: a\"b"
        let body = Redaction.standard.body(Array(given.utf8), contentType: "text/event-stream; charset=utf-8")
        let shown = given.replacing("12", with: "\"REDACTED\"")
        #expect(String(decoding: body, as: UTF8.self) == shown)
    }

    @Test func namesThatEndLikeSecrets() {
        for name in ["github_token", "newPassword", "aws-secret", "awsSecretKey", "stripe_api_key", "x[s3AccessKey]"] {
            #expect(Redaction.standard.hides(parameter: name), "\(name)")
            #expect(!Redaction.none.hides(parameter: name), "\(name)")
            #expect(!Redaction(parameters: ["other"]).hides(parameter: name), "\(name)")
        }
        for name in ["tokens", "monkey", "password_hint", "secretary", "publicKey"] {
            #expect(!Redaction.standard.hides(parameter: name), "\(name)")
        }
        for name in ["PRIVATE-TOKEN", "apikey", "Ocp-Apim-Subscription-Key", "DD-API-KEY"] {
            #expect(Redaction.standard.hides(header: name), "\(name)")
        }
    }

    @Test func multipartBodies() {
        let head = "--B\r\nContent-Disposition: form-data; name="
        let given = "\(head)\"a\"\r\n\r\n1\r\n\(head)\"password\"\r\n\r\nx\r\ny\r\n\(head)\"f\"\r\n\r\n2\r\n--B--\r\n"
        let shown = given.replacing("x\r\ny", with: "REDACTED")
        for type in ["multipart/form-data; boundary=B", "multipart/form-data; charset=x; Boundary=\"B\""] {
            let body = Redaction.standard.body(Array(given.utf8), contentType: type)
            #expect(String(decoding: body, as: UTF8.self) == shown)
        }
        #expect(Redaction.standard.body([1], contentType: "multipart/form-data") == [1])
    }

    @Test func partsAreTreatedByTheirTypes() {
        func part(_ name: String, _ type: String, _ content: String) -> String {
            "--B\r\nContent-Disposition: form-data; name=\"\(name)\"\r\nContent-Type: \(type)\r\n\r\n\(content)\r\n"
        }
        func body(_ secret: String) -> String {
            part("a", "application/json", "{\"password\": \"\(secret)\"}")
                + part("b", "application/x-www-form-urlencoded", "a=1&password=\(secret)")
                + part("c", "multipart/mixed; boundary=C", "--C\r\n\r\n{\"token\": \"\(secret)\"}\r\n--C--")
                + part("d", "image/png", "{\"password\": \"x\"}") + "--B--\r\n"
        }
        let shown = Redaction.standard.body(Array(body("s3cret").utf8), contentType: "multipart/form-data; boundary=B")
        #expect(String(decoding: shown, as: UTF8.self) == body("REDACTED"))
    }

    /// Parts within parts are looked at to a limit.
    @Test func partsMayNest() {
        var text = "{\"password\": \"s3cret\"}"
        for level in 0..<1000 {
            let type = "multipart/mixed; boundary=B\(level)x"
            text = "--B\(level + 1)x\r\nContent-Type: \(type)\r\n\r\n--B\(level)x\r\n\r\n\(text)\r\n"
        }
        let shown = Redaction.standard.body(Array(text.utf8), contentType: "multipart/mixed; boundary=B1000x")
        #expect(!String(decoding: shown, as: UTF8.self).contains("s3cret"))
    }
}
