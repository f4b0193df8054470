extension WidgetWitness {
    /// A call about a placed widget reached a provider.
    ///
    /// - Parameters:
    ///   - committed: the sequence number that was published last of the app.
    ///   - run: of the service.
    ///   - time: real milliseconds.
    package func called(_ frame: JSON, committed: Int, run: UInt64, at time: Int64) {
        guard let id = frame["call"]?.string, let name = frame["widget"]?.string, let op = frame["op"]?.string,
            let topic = topic(id: name), let widget = widgets[topic]
        else { return complain(false, "a call for nobody: \(frame.text)") }
        func check(_ isRight: Bool, _ what: String) {
            complain(isRight, "\(what): \(frame.text)\n    of \(JSON.object(widget.entity).text)")
        }
        let isAction = op == "widget.perform"
        check(isAction || op == "widget.timeline", "an unknown call")
        check(calls[id] == nil, "a call that was sent before")
        check(isAction ? widget.isActing : widget.isAsking, "nobody asked")
        check(widget.askedSeq <= committed, "a call before its event was committed")
        let key = "\(topic) \(widget.life) \(widget.askedSeq)"
        let attempt = Int(frame["attempt"]?.integer ?? 0)
        if isAction {
            check(attempts[key] == nil && attempt == 1, "an action that was sent before")
            attempts[key] = 1
            for member in ["action", "parameters"] {
                check(frame[member] == widget.interaction?[member], "another \(member) than was tapped")
            }
        } else {
            let sent = attempts["\(key) \(run)", default: 0]
            // The first may have gone where nobody was any more.
            check(attempt > sent && attempt <= 2, "attempt \(attempt) after \(sent)")
            attempts["\(key) \(run)"] = attempt
            check(frame["action"] == nil, "a timeline is asked for with an action")
        }
        let limit = isAction ? widget.kind.actionDeadline : widget.kind.timelineDeadline
        check((1...limit).contains(frame["within"]?.integer ?? 0), "within what?")
        // How it is to be drawn may be a newer one that is not committed yet: it changes nothing about the call.
        for member in ["family", "configuration", "device", "app", "kind"] {
            check(frame[member] == widget.entity[member], "another \(member)")
        }
        callsByQuestion["\(name) \(widget.life) \(widget.askedSeq)", default: []].append(id)
        calls[id] = WitnessedCall(
            id: id, control: name, isAction: isAction, askedAt: widget.askedSeq, life: widget.life, run: run,
            sentAt: time)
    }

    /// As ``ControlWitness/failed(_:saying:)``.
    package func failed(_ call: String, saying reason: String?) {
        if let call = calls[call] { said.add(reason, to: call) }
    }

    /// A timeline call was answered, well formed.
    package func answered(_ timeline: WitnessedTimeline) {
        timelines[timeline.call, default: []].append(timeline)
    }

    /// Whether a call was for an action.
    package func isAction(_ call: String) -> Bool { calls[call]?.isAction ?? false }
}
