/// What an event may show.
extension ControlWitness {
    typealias Check = (Bool, String) -> Void

    /// Redaction, failures, and values that only some events change.
    func checkContent(_ passage: ControlPassage, _ control: WitnessedControl, _ check: Check) {
        let (before, after) = (passage.before, passage.after)
        if passage.isRedacted {
            check(control.kind.isSensitive, "a kind that is not sensitive is redacted")
            let shown = ControlPassages.hidden.filter { after[$0] != nil }
            check(shown.isEmpty, "a locked device shows \(shown)")
        } else if control.kind.isToggle {
            check(after["value"]?.bool != nil, "a toggle without a value")
        }
        let wasRedacted = before["isRedacted"]?.bool ?? passage.isRedacted
        check(passage.isRedacted == wasRedacted || ["redacted", "revealed"].contains(passage.name), "it hid unasked")
        if passage.name == "redacted" || passage.name == "revealed" {
            check(passage.isRedacted == (passage.name == "redacted"), "redacted is not what it says")
        }
        switch passage.name {
        case "failed":
            check(ControlPassages.failures.contains(after["failure"]?.string ?? ""), "failed without a failure")
            if passage.cause == "recovery" {
                check(passage.from == "acting" && after["failure"] == .string("unknownOutcome"), "another recovery")
            }
            // What is shown stays (C4, C7), but where an action failed (C10).
            if passage.from != "acting", passage.isSeen {
                check(before["value"] == after["value"], "a value that failed changed what is shown")
            }
        case "shown", "acting", "performed", "configured", "added":
            check(after["failure"] == nil, "a failure after \(passage.name)")
        default: check(after["failure"] == before["failure"], "another failure")
        }
        if passage.cause == "sibling" { check(control.kind.reloadsSiblings, "a kind that does not reload siblings") }
        if ["reloading", "authenticating", "performed"].contains(passage.name), passage.isSeen {
            check(before["value"] == after["value"], "\(passage.name) changed the value")
        }
        if passage.name != "configured", passage.isSeen, passage.from != nil {
            check(before["configuration"] == after["configuration"], "another configuration")
        }
    }

    /// When it goes on by itself: retries with backoff, and the limit of the wait for authentication.
    func checkNext(_ passage: ControlPassage, _ control: WitnessedControl, _ check: Check) {
        let next = passage.after["next"]?["at"]?.integer
        switch (passage.name, passage.from) {
        case ("failed", "loading"), ("failed", "reloading"):
            guard passage.after["failure"] != .string("noProvider") else {
                return check(next == nil, "a retry without a provider")
            }
            guard let next else { return check(false, "no retry") }
            let doublings = min(control.failures - 1, 20)
            let span = min(ControlPassages.retryLongest, ControlPassages.retryFirst << Int64(doublings))
            check(
                (span * 8 / 10 - 1...span * 12 / 10 + 1).contains(next - passage.at),
                "failure \(control.failures) is retried after \(next - passage.at)")
        case ("authenticating", _):
            check(next == passage.at + ControlPassages.authenticationLimit, "another limit of authentication")
        case ("redacted", _), ("revealed", _): check(passage.after["next"] == passage.before["next"], "another next")
        default: check(next == nil, "next after \(passage.name)")
        }
        if passage.cause == "retry" || passage.name == "cancelled" {
            guard let due = passage.before["next"]?["at"]?.integer else { return check(false, "not due at all") }
            check(passage.at >= due, "before it was due")
        }
    }

    /// What it rests in, what is wished, what is asked.
    func follow(_ passage: ControlPassage, _ control: inout WitnessedControl, _ check: Check) {
        let after = passage.after
        showsReason(passage, &control, check)
        if ["loading", "reloading"].contains(passage.to), !["redacted", "revealed"].contains(passage.name) {
            control.isAsked(by: passage)
        }
        switch passage.name {
        case "added", "configured":
            let hasValue = control.kind.hasValue
            control.resting = (hasValue ? control.kind.preview : nil, hasValue ? "preview" : "provider")
            (control.failures, control.wish, control.nextWish) = (0, nil, nil)
            rests(passage, control, check)
        case "shown": shown(passage, &control, check)
        case "failed":
            if passage.from == "acting" {
                control.wish = nil
                rests(passage, control, check)
            } else {
                control.failures += 1
            }
        case "acting": acts(passage, &control, check)
        case "performed":
            check(control.nextWish == nil || control.nextWish == .hidden, "the newest wish is lost")
            wasDone(&control)
            (control.wish, control.nextWish) = (nil, nil)
        case "authenticating":
            control.wish = wish(passage, control)
        case "cancelled":
            control.wish = nil
            rests(passage, control, check)
        case "removed": (control.wish, control.nextWish) = (nil, nil)
        case "revealed":
            if ["shown", "preview", "disabled"].contains(passage.to), let source = after["valueSource"]?.string {
                control.resting = (after["value"], source)
            }
            if passage.to == "acting", control.nextWish == nil { sees(passage, &control) }
        default: break
        }
    }

    /// What its provider said of the call that it failed: one of those that were said of this very question.
    private func showsReason(_ passage: ControlPassage, _ control: inout WitnessedControl, _ check: Check) {
        control.reasons = said.possible(
            after: passage.name, passage.after, before: control.reasons, id: control.id, life: control.life,
            askedAt: control.askedAt)
        guard !passage.isRedacted else { return }
        let reason = passage.after["failureReason"]?.string
        check(control.reasons.contains(reason), "its provider said something else: \(control.reasons)")
        control.reasons = [reason]
    }

    /// It shows what it shows without an action.
    private func rests(_ passage: ControlPassage, _ control: WitnessedControl, _ check: Check) {
        guard !passage.isRedacted, let resting = control.resting else { return }
        check(
            passage.after["value"] == resting.value && passage.after["valueSource"] == .string(resting.source),
            "it should rest in \(resting.value?.text ?? "nothing") of the \(resting.source)")
    }

    /// A provider's value: one that was answered to this very question.
    private func shown(_ passage: ControlPassage, _ control: inout WitnessedControl, _ check: Check) {
        control.failures = 0
        let after = passage.after
        let isDisabled = after["isDisabled"]?.bool ?? false
        check((passage.to == "disabled") == isDisabled, "disabled is not what it says")
        guard !passage.isRedacted else {
            control.resting = nil
            return
        }
        control.resting = (after["value"], "provider")
        check(after["valueSource"] == .string("provider"), "a value of another source")
        guard let mark = after["status"]?.string, let answer = answers[mark], let call = calls[answer.call] else {
            return check(false, "nobody answered this")
        }
        check(!call.isAction && call.control == control.id, "an answer to another question")
        check(call.askedAt == control.askedAt && call.life == control.life, "an answer to an older question")
        check(after["value"] == answer.value && isDisabled == answer.isDisabled, "the answer was \(answer)")
        check(after["isActive"] == answer.isActive.map { .bool($0) }, "isActive: the answer was \(answer)")
        check(answer.isInTime, "an answer of an earlier run")
    }

    private func acts(_ passage: ControlPassage, _ control: inout WitnessedControl, _ check: Check) {
        let isTap = passage.cause == "person"
        if isTap, control.kind.needsAuthentication, let name = passage.asker, let tap = taps[name] {
            check(!(control.device.map { tap.locked.contains($0) } ?? false), "an action on a locked device")
        }
        if isTap, passage.from == "acting" {
            // The newest wish waits in its one place.
            let wanted = wish(passage, control)
            // One that is the same as what nobody saw need not wait.
            let waiting = control.wish == .hidden ? .hidden : wanted
            control.nextWish = wanted == control.wish && wanted != .hidden ? nil : waiting
            return flips(passage, wanted, check)
        }
        control.isAsked(by: passage)
        if isTap {
            control.wish = wish(passage, control)
        } else if passage.cause == "action" {
            check(control.nextWish != nil, "an action that nobody wished for")
            if passage.from == "acting" { wasDone(&control) }
            control.wish = control.nextWish
        }
        control.nextWish = nil
        sees(passage, &control)
        flips(passage, control.wish, check)
        if control.kind.isToggle, !passage.isRedacted {
            check(passage.after["valueSource"] == .string("optimistic"), "not optimistic")
        }
    }

    /// Its action was through: what it did is what holds until a value comes.
    private func wasDone(_ control: inout WitnessedControl) {
        switch control.wish {
        case .set(let isOn): control.resting = (.bool(isOn), "optimistic")
        case .hidden: control.resting = nil
        case .press, nil: break
        }
    }

    /// A wish that nobody saw is shown.
    private func sees(_ passage: ControlPassage, _ control: inout WitnessedControl) {
        guard control.wish == .hidden, !passage.isRedacted, let isOn = passage.after["value"]?.bool else { return }
        control.wish = .set(isOn)
    }

    private func flips(_ passage: ControlPassage, _ wish: WitnessedControl.Wish?, _ check: Check) {
        guard !passage.isRedacted else { return }
        switch wish {
        case .set(let isOn): check(passage.after["value"] == .bool(isOn), "it should show \(isOn)")
        case .press:
            if passage.isSeen { check(passage.after["value"] == passage.before["value"], "a press changed the value") }
        case .hidden, nil: break
        }
    }

    /// What a tap wants: the absolute opposite of what is shown (C8), or what it says.
    private func wish(_ passage: ControlPassage, _ control: WitnessedControl) -> WitnessedControl.Wish {
        guard control.kind.isToggle else { return .press }
        guard let name = passage.asker, let tap = taps[name] else { return .hidden }
        if let isOn = tap.isOn { return .set(isOn) }
        guard passage.before["isRedacted"]?.bool != true, let shown = passage.before["value"]?.bool else {
            return .hidden
        }
        return .set(!shown)
    }
}
