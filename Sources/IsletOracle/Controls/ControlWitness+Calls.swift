/// A call as it reached a provider.
package struct WitnessedCall: Sendable {
    package let id: String
    package let control: String
    package let isAction: Bool
    /// The revision of the event that it belongs to.
    package let askedAt: Int
    package let life: Int
    /// The run of the service that sent it.
    package let run: UInt64
    /// Real milliseconds.
    package let sentAt: Int64
}

/// A value as it was answered; its mark is its `status`.
struct WitnessedAnswer {
    var call: String
    var value: JSON?
    var isDisabled: Bool
    var isActive: Bool?
    /// Whether the run of the service that asked still went on.
    var isInTime: Bool
}

extension ControlWitness {
    /// A call reached a provider.
    ///
    /// - Parameters:
    ///   - committed: the sequence number that was published last of the app.
    ///   - run: of the service.
    ///   - time: real milliseconds.
    package func called(_ frame: JSON, committed: Int, run: UInt64, at time: Int64) {
        guard let id = frame["call"]?.string, let name = frame["control"]?.string, let op = frame["op"]?.string,
            let topic = topic(id: name), let control = controls[topic]
        else { return complain(false, "a call for nobody: \(frame.text)") }
        func check(_ isRight: Bool, _ what: String) {
            complain(isRight, "\(what): \(frame.text)\n    of \(JSON.object(control.entity).text)")
        }
        let isAction = op == "control.perform"
        check(isAction || op == "control.value", "an unknown call")
        check(calls[id] == nil, "a call that was sent before")
        check(isAction ? control.isActing : ["loading", "reloading"].contains(control.state), "nobody asked")
        check(control.askedSeq <= committed, "a call before its event was committed")
        let key = "\(topic) \(control.life) \(control.askedAt)"
        let attempt = Int(frame["attempt"]?.integer ?? 0)
        if isAction {
            check(attempts[key] == nil && attempt == 1, "an action that was sent before")
            attempts[key] = 1
            switch control.wish {
            case .set(let isOn): check(frame["value"] == .bool(isOn), "it should be \(isOn)")
            case .press: check(frame["value"] == nil, "a press has no value")
            case .hidden: break
            case nil: check(false, "an action that nobody wished for")
            }
        } else {
            let sent = attempts["\(key) \(run)", default: 0]
            // The first may have gone where nobody was any more.
            check(attempt > sent && attempt <= 2, "attempt \(attempt) after \(sent)")
            attempts["\(key) \(run)"] = attempt
            check(frame["value"] == nil, "a value is asked for with a value")
        }
        let limit = isAction ? control.kind.actionDeadline : control.kind.valueDeadline
        check((1...limit).contains(frame["within"]?.integer ?? 0), "within what?")
        if !control.isRedacted {
            check(frame["configuration"] == control.entity["configuration"], "another configuration")
        }
        calls[id] = WitnessedCall(
            id: id, control: name, isAction: isAction, askedAt: control.askedAt, life: control.life,
            run: run, sentAt: time)
    }

    /// A call is failed by its provider.
    ///
    /// - Parameter reason: what is to be shown of what it says; nil: nothing.
    package func failed(_ call: String, saying reason: String?) {
        if let call = calls[call] { said.add(reason, to: call) }
    }

    /// A value call was answered, well formed, with a mark of its own.
    package func answered(
        _ call: String, mark: String, value: JSON?, isDisabled: Bool, isActive: Bool?, run: UInt64
    ) {
        guard answers[mark] == nil else { return }
        answers[mark] = WitnessedAnswer(
            call: call, value: value, isDisabled: isDisabled, isActive: isActive, isInTime: calls[call]?.run == run)
    }
}
