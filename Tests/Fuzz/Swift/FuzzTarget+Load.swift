import Errand
import ErrandLoad
import Foundation

extension FuzzTarget {
    /// A histogram that was read is written as bytes that are read as the same one.
    static let histogram = FuzzTarget(name: "histogram") { bytes in
        let text = Data(bytes).base64EncodedString()
        guard let compact = try? CompactHistogram(base64: text) else { return }
        precondition(compact.count <= 1 << 53)
        precondition((try? CompactHistogram(base64: compact.base64)) == compact)
    }

    /// A threshold is read, or the error has a place in the text.
    static let threshold = FuzzTarget(name: "threshold") { bytes in
        let text = String(decoding: bytes, as: UTF8.self)
        do throws(LoadThresholdError) {
            let threshold = try LoadThreshold(parsing: text)
            precondition((try? LoadThreshold(parsing: threshold.description)) == threshold)
        } catch {
            precondition((0...text.unicodeScalars.count).contains(error.position) && !error.problem.isEmpty)
        }
    }

    /// A plan is read, or the error has a place in the text. Plans that name other files are left out: the fuzzer would read
    /// any file.
    static let loadPlan = FuzzTarget(name: "load-plan") { bytes in
        let lineCount = bytes.count { $0 == 0x0A } + 1
        do throws(PlanJSON.Failure) {
            let json = try PlanJSONParser.parse(bytes)
            guard !namesFiles(json, lineCount: lineCount) else { return }
        } catch {
            precondition((1...lineCount).contains(error.position.line) && error.position.column >= 1)
            precondition(!error.problem.isEmpty)
            return
        }
        let common = LoadCommon(configuration: Client.Configuration())
        do {
            let plan = try LoadPlanFile.parse(bytes, path: "plan.json", folder: ".", common)
            try plan.validate()
            for threshold in plan.thresholds {
                precondition((try? LoadThreshold(parsing: threshold.description)) != nil)
            }
        } catch {}
    }

    /// Whether the plan names other files. Traps where a value has a place outside of the text.
    private static func namesFiles(_ json: PlanJSON, lineCount: Int) -> Bool {
        precondition((1...lineCount).contains(json.position.line) && json.position.column >= 1)
        switch json.value {
        case .null, .bool, .number, .string: return false
        case .array(let elements): return elements.contains { namesFiles($0, lineCount: lineCount) }
        case .object(let members):
            return members.contains { name, value in
                ["files", "data", "environment_files", "body_file"].contains(name)
                    || namesFiles(value, lineCount: lineCount)
            }
        }
    }

    /// A result that was read is written as text that is read as the same result, and has a report.
    static let loadResult = FuzzTarget(name: "load-result") { bytes in
        guard let result = try? LoadResult(json: Data(bytes)) else { return }
        precondition((try? LoadResult(json: result.json))?.json == result.json)
        _ = (TextReport(result).text, OpenMetricsReport(result).text, HTMLReport(result).text)
    }
}
