import Errand
import ErrandLoad
import Foundation
import HTTPTypes

/// A plan in JSON. docs/load-tests.md has the schema.
struct LoadPlanFile {
    let path: String
    /// The folder against which paths are resolved.
    let folder: String
    let common: LoadCommon

    /// The largest size of a plan in bytes.
    private static let limit = 16 << 20

    static func read(_ path: String, _ common: LoadCommon) throws -> LoadPlan {
        let bytes = [UInt8](try BodyArgument.file(path).load())
        guard bytes.count <= limit else { throw ToolError(.inputData, "\(path): the plan is larger than 16 MiB") }
        var file = path.split(separator: "/", omittingEmptySubsequences: false)
        file.removeLast()
        let folder = file.isEmpty ? "." : file.joined(separator: "/")
        return try parse(bytes, path: path, folder: folder.isEmpty ? "/" : folder, common)
    }

    /// Reads the text of a plan, and the files that it names.
    static func parse(_ bytes: [UInt8], path: String, folder: String, _ common: LoadCommon) throws -> LoadPlan {
        do {
            return try LoadPlanFile(path: path, folder: folder, common: common).plan(PlanJSONParser.parse(bytes))
        } catch let failure as PlanJSON.Failure {
            throw ToolError(.inputData, failure.text(in: path))
        }
    }

    private init(path: String, folder: String, common: LoadCommon) {
        self.path = path
        self.folder = folder
        self.common = common
    }

    private func plan(_ json: PlanJSON) throws -> LoadPlan {
        let members = try json.members([
            "name", "scenarios", "thresholds", "warm_up", "grace", "seed", "request_limit",
        ])
        guard let list = members["scenarios"] else { throw json.failure("the member 'scenarios' is missing") }
        let seed = try members["seed"].map { UInt64(try $0.integer(0...Int(1) << 53)) }
        var plan = LoadPlan(
            try members["name"]?.text() ?? LoadCommon.stem(path),
            scenarios: try list.elements().map { try scenario($0, seed: common.seed ?? seed) }, seed: seed ?? 1)
        if let time = members["warm_up"] { plan.warmUp = try time.duration() }
        if let time = members["grace"] { plan.gracePeriod = try time.duration() }
        if let limit = members["request_limit"] {
            plan.requestLimit = UInt64(try limit.integer(1...Int(1) << 53))
        }
        plan.thresholds = try members["thresholds"]?.elements().map { try threshold($0) } ?? []
        return plan
    }

    private func threshold(_ json: PlanJSON) throws -> LoadThreshold {
        var condition = json
        var aborts = false
        if case .object = json.value {
            let members = try json.members(["condition", "abort"])
            guard let given = members["condition"] else { throw json.failure("the member 'condition' is missing") }
            condition = given
            aborts = try members["abort"]?.flag() ?? false
        }
        let text = try condition.text()
        do {
            var threshold = try LoadThreshold(parsing: text)
            threshold.aborts = aborts
            return threshold
        } catch {
            throw condition.failure(error.description)
        }
    }

    // MARK: Scenarios

    private func scenario(_ json: PlanJSON, seed: UInt64?) throws -> LoadScenario {
        let members = try json.members([
            "name", "files", "only", "variables", "environment", "environment_files", "keep_going", "requests",
            "cookies",
            "users", "rate", "spacing", "max_users", "duration", "stages", "data",
        ])
        let data = try members["data"]?.elements().enumerated().map { try feed($1, number: $0 + 1) } ?? []
        let row: [String: String]
        do {
            row = try LoadFeed.firstRow(data)
        } catch {
            throw (members["data"] ?? json).failure(error.message)
        }
        var selection = HTTPFileSelection(files: [], row: row, settings: common.settings)
        for (name, value) in try members["variables"]?.allMembers() ?? [] {
            guard HTTPPlaceholder.isName(name[...]) else {
                throw value.failure("'\(name)' is not a name of a variable")
            }
            selection.variables[name] = try value.text()
        }
        selection.variables.merge(common.variables) { _, given in given }
        let shape = try shape(json, members)
        let plan: HTTPFilePlan
        let derived: String?
        switch (members["files"], members["requests"]) {
        case (let files?, nil):
            selection.files = try files.texts().map(resolved)
            selection.only = try members["only"]?.texts() ?? []
            selection.environment = try members["environment"]?.text()
            selection.environmentFiles = try members["environment_files"]?.texts().map(resolved) ?? []
            guard !selection.files.isEmpty else { throw files.failure("a file is expected") }
            plan = try HTTPFilePlan(selection, order: nil)
            derived = selection.files.map { LoadCommon.stem($0) }.joined(separator: "+")
        case (nil, let requests?):
            for other in ["only", "environment", "environment_files", "keep_going"] {
                if let member = members[other] { throw member.failure("this member requires 'files'") }
            }
            plan = try requestPlan(requests, selection)
            derived = nil
        case (.some, let requests?): throw requests.failure("'files' and 'requests' exclude each other")
        case (nil, nil): throw json.failure("the member 'files' or 'requests' is missing")
        }
        guard let name = try members["name"]?.text() ?? derived else {
            throw json.failure("the member 'name' is missing")
        }
        let steps = try HTTPFileScenario(
            plan, data: data, keepsGoing: try members["keep_going"]?.flag() ?? false, seed: seed)
        return try steps.scenario(
            name, shape: shape, configuration: common.configuration,
            hasCookies: try members["cookies"]?.flag() ?? (members["files"] != nil))
    }

    private func resolved(_ path: String) -> String {
        path.hasPrefix("/") || folder == "." ? path : folder == "/" ? "/" + path : folder + "/" + path
    }

    private func feed(_ json: PlanJSON, number: Int) throws -> LoadData {
        let members = try json.members(["file", "order", "at_end"])
        guard let file = members["file"] else { throw json.failure("the member 'file' is missing") }
        let order = try members["order"].map { try choice($0, LoadData.Order.self) } ?? .sequential
        let atEnd = try members["at_end"].map { try choice($0, LoadData.AtEnd.self) } ?? .wrap
        let name = resolved(try file.text())
        do throws(LoadFeedError) {
            return try LoadFeed.read(name, named: "data\(number)", order: order, atEnd: atEnd)
        } catch {
            if error.status == .inputFile { throw ToolError(.inputFile, file.failure(error.message).text(in: path)) }
            throw file.failure(error.message)
        }
    }

    private func choice<Choice: RawRepresentable & CaseIterable>(
        _ json: PlanJSON, _ type: Choice.Type
    ) throws(PlanJSON.Failure) -> Choice where Choice.RawValue == String {
        let text = try json.text()
        guard let choice = Choice(rawValue: text) else {
            let names = Choice.allCases.map(\.rawValue).joined(separator: ", ")
            throw json.failure("\"\(text)\" is not one of \(names)")
        }
        return choice
    }
}
