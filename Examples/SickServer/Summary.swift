/// The main results of the page, in three lines.
struct Summary {
    let script: SickScript
    let outcomes: [Outcome]

    private func figures(_ outcome: Outcome, _ phase: String) -> Outcome.Figures {
        let found = script.phases.first { $0.name == phase }
        return outcome.figures(from: found?.begin ?? 0, to: found?.end ?? script.seconds)
    }

    /// The second half of the recovery.
    private func recovered(_ outcome: Outcome) -> Outcome.Figures {
        let last = script.phases.last
        return outcome.figures(
            from: ((last?.begin ?? 0) + script.seconds) / 2, to: script.seconds)
    }

    private func list(_ figures: (Outcome) -> Outcome.Figures, _ text: (Outcome.Figures) -> String) -> String {
        outcomes.map { "\($0.contender.name) \(text(figures($0)))" }.joined(separator: "; ")
    }

    var lines: [String] {
        [
            "20 % stall     answered: "
                + list({ figures($0, "20 % stall") }) {
                    "\(Page.percent($0.success)), p99 \(Page.milliseconds($0.p99))"
                },
            "death          load: " + list({ figures($0, "dead") }) { "\(Int($0.load))/s" },
            "recovered      answered: " + list(recovered) { Page.percent($0.success) },
        ]
    }

    /// The expected difference that the results do not show; `nil`: they show all of them.
    var missing: String? {
        func outcome(_ name: String) -> Outcome? { outcomes.first { $0.contender.name == name } }
        guard let nothing = outcome("nothing"), let retries = outcome("retries"),
            let budget = outcome("retries with a budget"), let breaker = outcome("budget and breaker")
        else { return "a client is missing" }
        func success(_ figures: Outcome.Figures) -> Double { figures.success ?? 0 }
        let stall = "20 % stall"
        if success(figures(nothing, stall)) > 0.9 { return "the stalls did not hurt a client without retries" }
        if success(figures(budget, stall)) < 0.9 { return "retries did not answer requests that stalled" }
        if figures(retries, "dead").load < 1.5 * figures(budget, "dead").load {
            return "retries without a budget did not multiply the load"
        }
        if figures(breaker, "dead").load > 0.75 * figures(budget, "dead").load {
            return "the breaker did not take the load off the dead server"
        }
        if success(recovered(retries)) > success(recovered(budget)) - 0.2 {
            return "retries without a budget did not hold the server down after it was healthy again"
        }
        return nil
    }
}
