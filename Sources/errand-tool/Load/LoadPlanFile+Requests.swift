import Errand
import ErrandLoad
import Foundation
import HTTPTypes

extension LoadPlanFile {
    /// The `requests` of a scenario. Each iteration sends one of them, chosen by weight.
    func requestPlan(_ json: PlanJSON, _ selection: HTTPFileSelection) throws -> HTTPFilePlan {
        let elements = try json.elements()
        guard !elements.isEmpty else { throw json.failure("a request is expected") }
        var requests: [HTTPFileRequest] = []
        for (index, element) in elements.enumerated() {
            let request = try request(element, number: index + 1)
            guard !requests.contains(where: { $0.label == request.label }) else {
                throw element.failure("two requests have the name '\(request.label)'; set 'name'")
            }
            requests.append(request)
        }
        let variables = HTTPVariables(
            path: path, given: selection.variables, row: selection.row,
            process: ProcessInfo.processInfo.environment)
        return try HTTPFilePlan(
            requests, maker: HTTPRequestMaker(variables: variables, folder: folder, settings: selection.settings))
    }

    private func request(_ json: PlanJSON, number: Int) throws -> HTTPFileRequest {
        let members = try json.members([
            "name", "url", "method", "headers", "body", "body_file", "weight", "think", "expect", "follow_redirects",
        ])
        guard let url = members["url"] else { throw json.failure("the member 'url' is missing") }
        let method = try members["method"]?.text() ?? "GET"
        guard HTTPRequest.Method(rawValue: method) != nil else {
            throw (members["method"] ?? json).failure("'\(method)' is not an HTTP method")
        }
        var request = HTTPFileRequest(
            title: try members["name"]?.text() ?? "\(method) \(LoadCommon.name(of: url.text()))",
            position: json.position, number: number, method: method, url: try template(url))
        for (name, value) in try members["headers"]?.allMembers() ?? [] {
            request.fields.append(
                HTTPFileRequest.Field(name: name, value: try template(value), position: value.position))
        }
        switch (members["body"], members["body_file"]) {
        case (let body?, nil): request.body = [.exact(try template(body))]
        case (nil, let file?):
            request.body = [
                .file(HTTPBodyFile(path: try template(file), encoding: nil, position: file.position))
            ]
        case (_?, let file?): throw file.failure("'body' and 'body_file' exclude each other")
        case (nil, nil): break
        }
        request.options.followsRedirects = try members["follow_redirects"]?.flag() ?? false
        request.options.weight = try members["weight"]?.number(0...1_000_000) ?? 1
        if let think = members["think"] {
            guard let time = ThinkArgument(argument: try think.text())?.time else {
                throw think.failure("expected \(ThinkArgument.rule)")
            }
            request.options.think = time
        }
        if let expect = members["expect"] {
            do {
                request.options.expectations = [
                    try HTTPExpectation(statuses: try expect.text()[...], at: expect.position)
                ]
            } catch let error as HTTPFileError {
                throw expect.failure(error.message)
            }
        }
        return request
    }

    /// The text with its variables. A mistake in a placeholder is reported at the place of the text.
    private func template(_ json: PlanJSON) throws -> HTTPTemplate {
        let text = try json.text()
        do {
            return try HTTPTemplate(text[...], at: json.position)
        } catch {
            throw json.failure(error.message)
        }
    }
}
