import IsletCore

/// From a command, an answer of a provider or a date to the events that follow: the machines in their engine, with
/// record, digest, timer, and the log of decisions, but without a byte of JSON.
enum MachineBench {
    private static let hour: Milliseconds = 3_600_000
    private static let begin = Instant(1_780_000_000_000)
    private static let nobody = EntityID(high: 0, low: 0)

    static func round(_ meter: inout Meter) {
        activities(&meter)
        controls(&meter)
        widgets(&meter)
    }

    // MARK: Activities

    private static func activities(_ meter: inout Meter) {
        var random = SplitMix(seed: 3)
        let order = (0..<meter.population).shuffled(using: &random)
        var engine = Engine(rules: .standard, start: begin)
        var frame = FrameBuilder()
        let (app, type, empty) = (frame.run(SampleFrames.app), frame.run("Bench"), frame.run("{}"))
        let (first, second) = (frame.run(SampleFrames.content(1)), frame.run(SampleFrames.content(2)))
        let bytes = frame.bytes
        var applied = 0
        func apply(_ engine: inout Engine, _ operation: Operation, at now: Instant) {
            let outcome = engine.apply(Command(operation: operation), of: bytes.span, at: now, freshID: nobody)
            if case .applied = outcome { applied += 1 }
            engine.releaseEvents()
        }

        meter.measure("activity.start") { number in
            var start = ActivityStart(app: app, type: type, attributes: empty, contentState: first)
            start.id = SampleFrames.id(order[number])
            start.staleDate = begin + 2 * hour
            apply(&engine, .activityStart(start), at: begin)
        }
        // Each becomes stale at a millisecond of its own.
        meter.measure("activity.update") { number in
            let address = ActivityAddress(app: app, target: .id(SampleFrames.id(order[number])))
            var update = ActivityUpdate(address: address, contentState: second)
            update.staleDate = begin + hour + Milliseconds(number)
            apply(&engine, .activityUpdate(update), at: begin + 1_000)
        }
        var fired = 0
        meter.measure("activity deadline") { number in
            _ = engine.fireDue(at: begin + hour + Milliseconds(number), dating: .whenNoticed, limit: 64)
            fired += engine.events.count
            engine.releaseEvents()
        }
        meter.measure("activity.end") { number in
            let address = ActivityAddress(app: app, target: .id(SampleFrames.id(order[number])))
            apply(&engine, .activityEnd(ActivityEnd(address: address)), at: begin + 2 * hour)
        }
        precondition(applied == 3 * meter.count && fired == meter.count, "not everything was applied")
    }

    // MARK: Controls

    private static func controls(_ meter: inout Meter) {
        var engine = Engine(rules: .standard, start: begin)
        var frame = FrameBuilder()
        let (app, kind) = (frame.run(SampleFrames.app), frame.run("Switch"))
        let (on, call) = (frame.run("true"), frame.run("1"))
        let bytes = frame.bytes
        let declaration = ControlKindDeclaration(kind: Array("Switch".utf8), template: .toggle)
        _ = engine.declareControlKind(declaration, app: app, bytes.span, mayReplace: false, at: begin)
        var placed: [SlotRef] = []
        for number in 0..<meter.count {
            let outcome = engine.addControl(
                ControlAdd(app: app, kind: kind), Envelope(), bytes.span, at: begin, freshID: SampleFrames.id(number))
            if case .applied(let control) = outcome { placed.append(control) }
            settle(&engine)
        }
        precondition(placed.count == meter.count, "a control was not placed")

        var answer = ProviderAnswer(provider: nobody, call: call)
        answer.value = on
        var events = 0
        meter.measure("control value") { number in
            _ = engine.controlAnswered(placed[number], isAction: false, answer, bytes.span, at: begin + 1_000)
            events += engine.controls.events.count
            settle(&engine)
        }
        meter.measure("control.tap") { number in
            let address = ControlAddress(app: app, id: SampleFrames.id(number))
            _ = engine.tapControl(
                address, isOn: nil, Envelope(), bytes.span, at: begin + 2_000, .whenNoticed)
            events += engine.controls.events.count
            settle(&engine)
        }
        precondition(events == 2 * meter.count, "an event is missing")
    }

    private static func settle(_ engine: inout Engine) {
        engine.releaseEvents()
        _ = engine.controls.takeCalls()
        _ = engine.widgets.takeCalls()
    }

    // MARK: Widgets

    private static func widgets(_ meter: inout Meter) {
        var engine = Engine(rules: .standard, start: begin)
        var frame = FrameBuilder()
        let (app, kind) = (frame.run(SampleFrames.app), frame.run("Weather"))
        let entry = frame.run(
            Array(#"{"date":1780000000000,"content":"#.utf8) + SampleFrames.content(1) + Array("}".utf8))
        let bytes = frame.bytes
        let declaration = WidgetKindDeclaration(kind: Array("Weather".utf8), families: [.systemMedium])
        _ = engine.declareWidgetKind(declaration, app: app, bytes.span, mayReplace: false, at: begin)
        var placed: [SlotRef] = []
        for number in 0..<meter.count {
            let outcome = engine.addWidget(
                WidgetAdd(app: app, kind: kind, family: .systemMedium), Envelope(), bytes.span, at: begin,
                freshID: SampleFrames.id(number))
            if case .applied(let widget) = outcome { placed.append(widget) }
            settle(&engine)
        }
        precondition(placed.count == meter.count, "a widget was not placed")

        var events = 0
        meter.measure("widget timeline") { number in
            // Shown now, and once more at a millisecond of its own.
            var timeline = WidgetTimeline(entries: [
                TimelineEntry(date: begin, bytes: entry),
                TimelineEntry(date: begin + hour + Milliseconds(number), bytes: entry),
            ])
            timeline.policy = .never
            engine.widgetAnswered(placed[number], isAction: false, timeline: timeline, bytes.span, at: begin + 1_000)
            events += engine.widgets.events.count
            settle(&engine)
        }
        meter.measure("widget entry") { number in
            _ = engine.fireDue(at: begin + hour + Milliseconds(number), dating: .whenNoticed, limit: 64)
            events += engine.widgets.events.count
            settle(&engine)
        }
        precondition(events == 2 * meter.count, "an event is missing")
    }
}
