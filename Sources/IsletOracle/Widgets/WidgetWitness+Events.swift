/// What an event may show, and what it means for what comes.
extension WidgetWitness {
    typealias Check = (Bool, String) -> Void

    /// Members that only some events change, and those that belong to a state.
    func checkContent(_ passage: WidgetPassage, _ widget: WitnessedWidget, _ check: Check) {
        let after = passage.after
        let isShowing = ["shown", "reloading", "acting"].contains(passage.to)
        check(passage.to == "removed" || isShowing == passage.hasEntry, "the state and the entry differ")
        check((passage.to == "acting") == (after["isInvalidated"] == .bool(true)), "invalidated while it does not act")
        let own: [String: [String]] = [
            "entry": ["added", "timeline", "entry", "configured"], "entryIndex": ["timeline", "entry", "configured"],
            "timelineAt": ["timeline", "configured"], "policy": ["timeline", "configured"],
            "entries": ["timeline", "configured"], "configuration": ["added", "configured"],
            "rendering": ["added", "configured"], "isOnTop": ["added", "rotated"],
            "failure": ["failed", "timeline", "performed", "configured"],
            "failureReason": ["failed", "timeline", "performed", "configured"], "needsLogin": ["timeline", "configured"],
            "family": ["added"], "device": ["added"], "addedAt": ["added"], "kind": ["added"], "app": ["added"],
        ]
        for (member, events) in own where !events.contains(passage.name) {
            check(passage.isSame(member), "\(passage.name) changes \(member)")
        }
        if passage.name == "rotated" { check(!passage.isSame("isOnTop"), "rotated to where it was") }
        if passage.name == "failed" {
            check(WidgetPassages.failures.contains(widget.failure ?? ""), "failed without a failure")
        }
        if ["timeline", "performed"].contains(passage.name) {
            check(after["failure"] == nil, "a failure after \(passage.name)")
        }
        if passage.exemption != nil { check(passage.asks, "exempt, and nothing is asked for") }
        let isHeld = after["held"] != nil
        if isHeld { check(["shown", "placeholder"].contains(passage.to), "held while it does not rest") }
        if passage.name != "held" { check(!isHeld || passage.isSame("held"), "\(passage.name) holds a reload") }
        if passage.before["held"] != nil, !isHeld {
            let ends = ["reloading", "acting", "configured", "removed"]
            check(ends.contains(passage.name), "a reload that was held is lost")
        }
    }

    func follow(_ passage: WidgetPassage, _ widget: inout WitnessedWidget, _ check: Check) {
        let reason = passage.after["failureReason"]?.string
        let reasons = said.possible(
            after: passage.name, passage.after, before: [widget.reason], id: widget.id, life: widget.life,
            askedAt: widget.askedSeq)
        check(reasons.contains(reason), "its provider said something else: \(reasons)")
        widget.reason = reason
        if passage.asks { asks(passage, &widget, check) }
        switch passage.name {
        case "added":
            widget.addedAt = passage.after["addedAt"]?.integer ?? 0
            check(widget.addedAt == passage.at && !passage.hasEntry, "another beginning")
        case "configured": configured(passage, &widget, check)
        case "timeline": arrived(passage, &widget, check)
        case "entry": reached(passage, &widget, check)
        case "held": held(passage, &widget, check)
        case "failed": failed(passage, &widget, check)
        case "acting":
            (widget.askedSeq, widget.interaction) = (passage.seq, passage.event["interaction"])
            (widget.retryAt, widget.owed) = (nil, nil)
            check(widget.interaction?["action"]?.string != nil, "an action without a name")
        case "reloading", "performed":
            widget.retryAt = nil
            if passage.cause == "atEnd" || passage.cause == "after" { due("policy", passage, &widget, check) }
            if passage.cause == "retry" || passage.cause == "held" { due(passage.cause, passage, &widget, check) }
        default: break
        }
    }

    /// What a date made comes not before it.
    private func due(
        _ cause: String, _ passage: WidgetPassage, _ widget: inout WitnessedWidget, _ check: Check
    ) {
        let next = passage.before["next"]
        check(next?["cause"] == .string(cause), "nothing was due of \(cause)")
        check(next?["at"]?.integer ?? .max <= passage.at, "before it was due")
        if cause == "policy" { widget.policyAt = nil }
    }

    private func configured(_ passage: WidgetPassage, _ widget: inout WitnessedWidget, _ check: Check) {
        guard passage.cause == "configuration" else {
            let kept = [
                "state", "entry", "entryIndex", "timelineAt", "configuration", "held", "next", "failure", "failureReason",
            ]
            let changed = kept.filter { !passage.isSame($0) }
            return check(changed.isEmpty, "drawn otherwise, and it changes \(changed)")
        }
        if passage.from == "acting" { widget.hasActedInVain = true }
        let left = ["entry", "entryIndex", "timelineAt", "entries", "policy", "failure", "held", "next", "needsLogin"]
            .filter { passage.after[$0] != nil }
        check(left.isEmpty && !passage.isSame("configuration"), "it keeps \(left) of another configuration")
        (widget.timeline, widget.index, widget.nextEntryAt, widget.policyAt, widget.retryAt) = (nil, nil, nil, nil, nil)
        (widget.failures, widget.isCourseKnown, widget.alternatives) = (0, true, [])
    }

    /// Whether a provider got, in the run of the service that gave it up, what a widget asked for. What is read again
    /// after a crash is as it was then.
    private func wasSent(_ widget: WitnessedWidget, _ passage: WidgetPassage) -> Bool {
        let topic = topic(id: widget.id) ?? ""
        let key = "\(topic) \(passage.seq) \(passage.at)"
        let known = timeOuts[key] ?? (attempts["\(topic) \(widget.life) \(widget.askedSeq) \(run)"] != nil)
        timeOuts[key] = known
        return known
    }

    private func failed(_ passage: WidgetPassage, _ widget: inout WitnessedWidget, _ check: Check) {
        let failure = widget.failure ?? ""
        if failure == "unknownOutcome" {
            check(passage.from == "acting" && passage.cause == "recovery", "another recovery")
        }
        guard passage.from != "acting" else {
            if ["timedOut", "providerLost", "unknownOutcome"].contains(failure) { widget.hasActedInVain = true }
            return
        }
        widget.failures += 1
        // One that only waited for a provider until its time was over asked nobody either.
        if WidgetPassages.unasked.contains(failure) || failure == "timedOut" && !wasSent(widget, passage) {
            widget.refund(seq: passage.seq, at: passage.at)
        }
        if let policy = widget.policyAt {
            // A policy's date that passed while it was asked is nobody's any more; a later one keeps its distance.
            let earliest = widget.asks.last.map { $0.at + rules.reloadSpacing } ?? 0
            widget.policyAt =
                policy.upperBound <= passage.at
                ? nil : max(passage.at, policy.lowerBound)...max(policy.upperBound, earliest)
        }
        guard failure != "noProvider" else {
            widget.retryAt = nil
            return
        }
        let span = min(rules.retryLongest, rules.retryFirst << Int64(min(widget.failures - 1, 20)))
        let (least, most) = (passage.at + span * 8 / 10 - 1, passage.at + span * 12 / 10 + 1)
        let spaced = passage.hadTimeline ? widget.asks.last.map { $0.at + rules.reloadSpacing } ?? 0 : 0
        widget.retryAt = least...max(most, spaced)
    }

    /// When it goes on by itself.
    func checkNext(_ passage: WidgetPassage, _ widget: WitnessedWidget, _ check: Check) {
        let next = passage.after["next"]
        let at = next?["at"]?.integer
        guard widget.isListed else { return check(next == nil, "next of one that is gone") }
        let entryAt = widget.nextEntryAt
        if widget.isCourseKnown {
            if let entryAt { check(at ?? .max <= entryAt, "the entry of \(entryAt) is forgotten") }
            if next?["cause"] == .string("entry") { check(at == entryAt, "an entry is due at \(entryAt ?? -1)") }
        }
        switch next?["cause"]?.string {
        case nil, "entry": break
        case "held": check(at == passage.after["held"]?["until"]?.integer, "another end of the hold")
        case "policy": check(at ?? 0 >= widget.policyAt?.lowerBound ?? .max, "not the date of its policy")
        case "retry":
            check(widget.retryAt?.contains(at ?? 0) ?? false, "failure \(widget.failures) is retried at another date")
        default: check(false, "next of no cause")
        }
        if widget.isBusy { return check(at == nil || next?["cause"] == .string("entry"), "next while it is asked for") }
        if let until = passage.after["held"]?["until"]?.integer {
            return check(at ?? .max <= until, "it does not come to the end of its hold")
        }
        // Behind an action that failed its timeline is asked for at once.
        if passage.name == "failed", passage.from == "acting" { return }
        if let failure = widget.failure {
            check(failure == "noProvider" || at != nil, "it is never tried again")
        } else if let policy = widget.policyAt {
            check(at ?? .max <= policy.upperBound, "its policy's date comes not later than \(policy.upperBound)")
        }
    }
}
