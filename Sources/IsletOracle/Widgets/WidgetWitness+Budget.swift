/// Reloads: who pays for them, and when they are held (apple-semantics 5, budget, learning, exempt).
extension WidgetWitness {
    /// Its timeline is asked for: charged or exempt.
    func asks(_ passage: WidgetPassage, _ widget: inout WitnessedWidget, _ check: Check) {
        checkExemption(passage, widget, check)
        if passage.exemption == nil {
            let spent = widget.spent(at: passage.at).count
            let limit = widget.limit(at: passage.at, rules)
            check(spent < limit, "over its budget: \(spent) of \(limit)")
            if let last = widget.asks.last {
                check(passage.at - last.at >= rules.reloadSpacing, "too close to the reload at \(last.at)")
            }
        }
        widget.pay(WitnessedWidget.Payment(seq: passage.seq, at: passage.at, exemption: passage.exemption))
        widget.askedSeq = passage.seq
    }

    /// Why it costs nothing is true, and it costs nothing where there is a reason.
    private func checkExemption(_ passage: WidgetPassage, _ widget: WitnessedWidget, _ check: Check) {
        let exemption = passage.exemption
        let wanted: String? =
            switch (passage.name, passage.cause) {
            case ("added", _), ("configured", _): "placement"
            case ("performed", _), (_, "action"), (_, "recovery"): "intent"
            case (_, "locale"): "locale"
            case (_, "appearance"): "appearance"
            default: widget.owed ?? (passage.hadTimeline ? nil : "placement")
            }
        if let wanted {
            if WidgetPassages.changes.contains(wanted) {
                check(
                    oracle.hasChanged(wanted, passage.after["device"]?.string, until: passage.at),
                    "nobody reported a change of \(wanted)")
            }
            return check(exemption == wanted, "it should be exempt by \(wanted)")
        }
        if let exemption, WidgetPassages.changes.contains(exemption), widget.failures > 0 {
            // It changed while a timeline was on its way, which then failed.
            let device = passage.after["device"]?.string
            return check(
                oracle.hasChanged(exemption, device, until: passage.at), "nobody reported a change of \(exemption)")
        }
        if exemption == "intent", widget.failures > 0, widget.hasActedInVain {
            // The action ended after all, while a timeline was on its way, which then failed.
            return
        }
        for name in WidgetPassages.conditions {
            let stands = oracle.condition(
                name, passage.after["device"]?.string, app: widget.app, since: passage.at)
            if exemption == name { return check(stands.ever, "\(name) does not hold") }
            check(!stands.always, "\(name) holds, and it is not exempt by it")
        }
        check(exemption == nil, "an exemption of no kind")
    }

    /// A reload waits: not without need, and not longer than it must.
    func held(_ passage: WidgetPassage, _ widget: inout WitnessedWidget, _ check: Check) {
        if passage.cause == "atEnd" || passage.cause == "after" { widget.policyAt = nil }
        widget.retryAt = nil
        let hold = passage.after["held"]
        check(passage.hadTimeline && widget.owed == nil, "held, and it costs nothing")
        for name in WidgetPassages.conditions {
            let stands = oracle.condition(name, widget.device, app: widget.app, since: passage.at)
            check(!stands.always, "\(name) holds, and it is held")
        }
        let free = widget.freeAt(passage.at, rules)
        let spaced = widget.asks.last.map { $0.at + rules.reloadSpacing } ?? passage.at
        check(max(free, spaced) > passage.at, "it need not be held")
        check(hold?["until"] == .integer(max(free, spaced)), "it is to be held until \(max(free, spaced))")
        check(hold?["reason"] == .string(free > passage.at ? "budget" : "spacing"), "another reason of the hold")
        let first = passage.before["held"]?["cause"] ?? .string(passage.cause)
        check(hold?["cause"] == first, "the hold is of \(first.text)")
    }

    // MARK: Reads

    /// What `widget.budget` says as of a place in the stream.
    ///
    /// - Returns: what is wrong with it; nil: nothing.
    package func fault(ofBudget budget: JSON, _ widget: WitnessedWidget, seq: Int, at date: Int64) -> String? {
        let spent = widget.spent(at: date, through: seq)
        let limit = widget.limit(at: date, rules)
        if budget["spent"] != .integer(Int64(spent.count)) { return "\(spent.count) are spent" }
        if budget["spentAt"] != .array(spent.map { .integer($0) }) { return "spent at \(spent)" }
        if budget["limit"] != .integer(Int64(limit)) { return "the limit is \(limit)" }
        if budget["left"] != .integer(Int64(max(0, limit - spent.count))) { return "left" }
        let held = widget.version(at: seq)?["held"]
        for member in ["until", "reason", "cause"] where held?[member] != budget["held"]?[member] {
            return "held is \(held?.text ?? "absent")"
        }
        return nil
    }
}
