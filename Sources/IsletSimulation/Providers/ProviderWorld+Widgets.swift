import IsletOracle

/// What providers do about widgets.
extension ProviderWorld {
    /// Takes what the service asks about widgets; false for anything else.
    mutating func receiveWidget(
        _ frame: JSON, _ index: Int, _ random: inout SimRandom, at now: Int64, called: (JSON) -> Void
    ) -> Bool {
        guard let call = frame["call"]?.string, let op = frame["op"]?.string, op.hasPrefix("widget.") else {
            return false
        }
        let time = frame["now"]?.integer ?? 0
        switch op {
        case "widget.timeline":
            called(frame)
            answerTimeline(frame, call, index, &random, at: now)
        case "widget.perform":
            called(frame)
            performWidget(call, index, &random, at: now)
        case "widget.relevance":
            let span = random.below(3_600_000 as Int64)
            let relevance = (time - span)..<(time + 2 * span + 1)
            let item = "{\"from\":\(relevance.lowerBound),\"to\":\(relevance.upperBound)}"
            let isEmpty = random.oneIn(3)
            output(
                index, "provider.answer", "\"call\":\"\(call)\",\"value\":[\(isEmpty ? "" : item)]", at: now,
                relevance: ProviderProcess.ToldRelevance(
                    kind: frame["kind"]?.string ?? "", span: isEmpty ? nil : relevance))
        case "widget.snapshot":
            say(index, "\"call\":\"\(call)\",\"entries\":[{\"date\":\(time)}]", at: now)
        default: say(index, "\"call\":\"\(call)\",\"value\":[]", at: now)
        }
        return true
    }

    private mutating func answerTimeline(
        _ frame: JSON, _ call: String, _ index: Int, _ random: inout SimRandom, at now: Int64
    ) {
        let maker = TimelineMaker(
            now: frame["now"]?.integer ?? 0, family: frame["family"]?.string ?? "", call: call, mark: nextMark())
        let (fields, timeline) = maker.make(&random)
        func answer(after span: Int64) {
            output(index, "provider.answer", fields, at: now + span, timeline: timeline, call: call)
        }
        guard !isCalm, random.percent(processes[index].misbehaviour) else {
            return answer(after: isCalm ? 0 : Int64(random.below(random.oneIn(3) ? 120 : 4)))
        }
        switch random.below(8) {
        case 0: answer(after: random.below(3_000 as Int64))
        case 1:
            answer(after: 0)
            answer(after: random.below(400 as Int64))
        case 2:
            output(index, "provider.answer", maker.makeWrong(&random), at: now + random.below(50 as Int64), call: call)
        case 3: break
        case 4:
            let fields = "\"call\":\"\(call)\",\"retryable\":\(random.oneIn(2))"
            fail(index, call, fields, &random, at: now + random.below(80 as Int64))
        case 5: output(index, "provider.answer", fields, at: now, as: "eeeeeeee-0000-4000-8000-00000000ffff")
        case 6: processes[index].isConnected = false
        default: processes[index].isHanging = true
        }
    }

    private mutating func performWidget(_ call: String, _ index: Int, _ random: inout SimRandom, at now: Int64) {
        let fields = "\"call\":\"\(call)\""
        guard !isCalm, random.percent(processes[index].misbehaviour) else {
            let span = isCalm ? 0 : random.below(random.oneIn(3) ? 150 : 4)
            return output(index, "provider.answer", fields, at: now + Int64(span), call: call)
        }
        switch random.below(5) {
        case 0: output(index, "provider.answer", fields, at: now + random.below(6_000 as Int64), call: call)
        case 1: fail(index, call, fields, &random, at: now + random.below(100 as Int64))
        case 2: break
        case 3: processes[index].isConnected = false
        default: processes[index].isHanging = true
        }
    }
}
