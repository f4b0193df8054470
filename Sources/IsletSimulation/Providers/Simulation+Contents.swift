import IsletOracle

/// Judging what answers about controls and widgets leave out, and what they are refused with.
///
/// Events of controls and widgets are nobody's to foretell, so an answer is held against what stood when its command was
/// executed and still stands when the answer leaves: what was there all the time must be in it.
extension Simulation {
    /// What was known when a command was executed.
    struct Sight {
        /// The lives of what was listed, by topic.
        var listed: [String: Int] = [:]
        /// Of the id that the command names: how it stood, whichever app had it.
        var named: (life: Int, revision: Int, isListed: Bool)?
        /// The kinds of the app that were declared for sure.
        var kinds: Set<String> = []
        /// The revisions of what was listed, by topic.
        var revisions: [String: Int] = [:]
        /// The devices that were locked.
        var locked: Set<String> = []
        /// When it was taken, in real milliseconds.
        var since: Int64 = 0
        /// Whether nothing was ever sent under its name before.
        var isFirst = true
    }

    static func isOfWidget(_ deed: ControlDeed) -> Bool { deed.op.hasPrefix("widget.") }

    /// Who asks, as events name it.
    static func asker(_ client: String?, _ req: String) -> String { "\(client ?? "") \(req)" }

    func look(at sent: SentCommand, _ deed: ControlDeed) {
        guard let req = sent.command.req else { return }
        var sight = Sight()
        let family = Self.isOfWidget(deed) ? "widget" : "control"
        if deed.op == "widget.stack" {
            for widget in widgetWitness.widgets where widget.value.isListed && widget.value.device == deed.device {
                sight.listed[widget.key] = widget.value.life
            }
        } else if Self.isOfWidget(deed) {
            for (topic, widget) in widgetWitness.listed(sent.command.app) {
                (sight.listed[topic], sight.revisions[topic]) = (widget.life, widget.revision)
            }
        } else {
            for (topic, control) in witness.listed(sent.command.app) {
                (sight.listed[topic], sight.revisions[topic]) = (control.life, control.revision)
            }
        }
        sight.named = deed.id.flatMap { stand($0, family) }
        sight.kinds = declared["\(sent.command.app) \(family)", default: []]
        (sight.locked, sight.since) = (oracle.lockedDevices, clock.elapsed)
        let name = Self.asker(sent.command.client, req)
        sight.isFirst = asked.insert(name).inserted
        if let before = sights[name] {
            // Sent twice, and the first is not answered yet: what was there for both.
            sight.listed = sight.listed.filter { before.listed[$0.key] == $0.value }
            sight.kinds.formIntersection(before.kinds)
            if let first = before.named, let second = sight.named, first != second { sight.named = nil }
        }
        sights[name] = sight
    }

    private func stand(_ id: String, _ family: String) -> (life: Int, revision: Int, isListed: Bool)? {
        if family == "widget" { return widgetWitness.widget(id: id).map { ($0.life, $0.revision, $0.isListed) } }
        return witness.control(id: id).map { ($0.life, $0.revision, $0.isListed) }
    }

    /// What was listed when a command was executed and is so still, by topic.
    func lasting(_ sight: Sight, _ deed: ControlDeed) -> Set<String> {
        let isLasting: (String, Int) -> Bool = { [self] topic, life in
            if Self.isOfWidget(deed) {
                return widgetWitness.widgets[topic].map { $0.isListed && $0.life == life } ?? false
            }
            return witness.controls[topic].map { $0.isListed && $0.life == life } ?? false
        }
        return Set(sight.listed.filter { isLasting($0.key, $0.value) }.keys)
    }

    // MARK: Refusals

    /// Its time was over when it was executed, or before its stream was so far.
    func judgeExpiry(
        _ deed: ControlDeed, _ sent: SentCommand, at executedAt: Int64, _ sight: Sight?,
        _ complain: (Bool, String) -> Void
    ) {
        if deed.isExpired {
            let known = controlAnswers[(sent.command.client ?? "") + (sent.command.req ?? ""), default: []]
            let isRemembered = known.contains { executedAt > $0.at && executedAt - $0.at < 500_000 }
            return complain(
                deed.isForged || !isRemembered, "it was executed before, and has expired when it comes again")
        }
        guard let minSeq = sent.minSeq, let sight else { return complain(false, "it did not wait") }
        let wait = sent.ttl ?? Self.patience
        complain(clock.elapsed - sight.since >= wait, "it waited \(clock.elapsed - sight.since) ms only")
        let inTime = ledger.line(sent.command.app, minSeq)?.publishedAt.map { $0 < sight.since + wait } ?? false
        complain(!inTime, "the stream was so far in time")
    }

    /// A refusal says what is so.
    func judgeRefusal(
        _ code: String, _ deed: ControlDeed, _ sent: SentCommand, at executedAt: Int64, _ sight: Sight?,
        _ complain: (Bool, String) -> Void
    ) {
        if deed.isChange, let client = sent.command.client, let req = sent.command.req {
            let known = controlAnswers[client + req, default: []]
            let isRemembered = known.contains { executedAt > $0.at && executedAt - $0.at < 500_000 }
            if deed.isForged {
                if code == "requestReused" { return complain(!known.isEmpty, "nothing was executed under its name") }
            } else {
                complain(!isRemembered, "it was executed before, and is refused when it comes again")
            }
        }
        complain(deed.refusals.contains(code), "it may not be refused so")
        guard let sight else { return }
        switch code {
        case "notFound":
            if let id = deed.id, !deed.op.hasSuffix(".add") {
                let lasting = lasting(sight, deed)
                complain(!lasting.contains { $0.hasSuffix("/" + id) }, "it is there")
            }
            if let kind = deed.kind { complain(!sight.kinds.contains(kind), "its kind is declared") }
        case "reconnectNotPermitted":
            guard let id = deed.id else { return complain(false, "it names no id") }
            let stands = stand(id, Self.isOfWidget(deed) ? "widget" : "control")
            let wasFree = sight.named?.isListed != true && stands?.isListed != true
            let isSame = sight.named?.life == stands?.life && sight.named?.revision == stands?.revision
            complain(!(wasFree && isSame), "nobody has the id")
        default: break
        }
    }

    // MARK: Contents

    /// An accepted answer holds everything that it should.
    func judgeContents(
        _ value: JSON, _ deed: ControlDeed, _ sent: SentCommand, at executedAt: Int64, _ sight: Sight?,
        _ complain: (Bool, String) -> Void
    ) {
        let app = sent.command.app
        if deed.isForged {
            let known = controlAnswers[(sent.command.client ?? "") + (sent.command.req ?? ""), default: []]
            let isRemembered = known.contains { executedAt > $0.at && executedAt - $0.at < 500_000 }
            complain(!isRemembered, "other bytes under the same name are executed")
        }
        judgeEffect(value, deed, sent, sight, complain)
        guard let sight else { return }
        if let id = deed.id, !deed.isChange, let named = sight.named, named.isListed {
            // It was another app's all the time.
            let family = Self.isOfWidget(deed) ? "widget" : "control"
            let owner = family == "widget" ? widgetWitness.widget(id: id)?.app : witness.control(id: id)?.app
            let isSame = stand(id, family).map { $0.life == named.life && $0.isListed } ?? false
            complain(!isSame || owner == app, "it is \(owner ?? "nobody")'s")
        }
        switch deed.op {
        case "control.list", "widget.list": judgeList(value, deed, sight, complain)
        case "control.kinds", "widget.kinds": judgeKinds(value, deed, sight, complain)
        case "control.history", "widget.history": judgeHistory(value, deed, app, sight, complain)
        case "control.explain", "widget.explain":
            let entity = value[Self.isOfWidget(deed) ? "widget" : "control"]?.object ?? [:]
            let wasSo =
                Self.isOfWidget(deed)
                ? widgetWitness.everWas(entity, isRead: false) : witness.everWas(entity, isRead: false)
            complain(wasSo, "it never was so")
            guard let id = deed.id, let topic = lasting(sight, deed).first(where: { $0.hasSuffix("/" + id) }) else { break }
            judgeDecisions(value["decisions"]?.array ?? [], of: entity, deed, topic, app, complain)
        case "control.options": complain(value["options"] == .array([]), "its parameter has no options")
        case "widget.snapshot":
            // Providers date it by when they are asked.
            let date = value["snapshot"]?["date"]?.integer ?? 0
            complain(date >= executedAt && date <= domain.now, "a snapshot of another time")
        case "widget.stack": judgeStack(value, deed, sight, at: executedAt, complain)
        default: break
        }
    }

    /// What was done on somebody's behalf is told in an event that names who asked.
    private func judgeEffect(
        _ value: JSON, _ deed: ControlDeed, _ sent: SentCommand, _ sight: Sight?,
        _ complain: (Bool, String) -> Void
    ) {
        guard value["outcome"] == .string("applied"), let req = sent.command.req else { return }
        switch deed.op {
        case "control.add", "control.configure", "control.remove", "control.tap", "control.set", "widget.add",
            "widget.configure", "widget.remove", "widget.tap":
            complain(askers.contains(Self.asker(sent.command.client, req)), "nothing happened")
        case "control.reload", "widget.reload", "widget.visible":
            if let shown = value["control"] ?? value["widget"] { return judgeReload(shown, deed, sent, sight, complain) }
            guard let count = value["count"]?.integer else { return complain(false, "nothing is reloaded") }
            judgeReload(ofMany: count, deed, sent, sight, complain)
        default: break
        }
    }

    private func judgeList(
        _ value: JSON, _ deed: ControlDeed, _ sight: Sight, _ complain: (Bool, String) -> Void
    ) {
        let rows = value[Self.isOfWidget(deed) ? "widgets" : "controls"]?.array ?? []
        let ids = rows.compactMap { $0["id"]?.string }
        complain(Set(ids).count == rows.count, "a row comes twice")
        complain(value["total"] == .integer(Int64(rows.count)) && value["next"] == nil, "the total of \(rows.count)")
        for topic in lasting(sight, deed).sorted() {
            complain(ids.contains { topic.hasSuffix("/" + $0) }, "\(topic) is missing")
        }
    }

    private func judgeKinds(
        _ value: JSON, _ deed: ControlDeed, _ sight: Sight, _ complain: (Bool, String) -> Void
    ) {
        let isOfWidget = Self.isOfWidget(deed)
        let lasting = lasting(sight, deed)
        var names: Set<String> = []
        for row in value["kinds"]?.array ?? [] {
            guard let name = row["kind"]?.string, names.insert(name).inserted else {
                return complain(false, "a kind without a name, or twice")
            }
            let declarations =
                isOfWidget
                ? WitnessedWidgetKind.named(name)?.declarations : WitnessedKind.named(name)?.declarations
            let told = row["declaration"]
            complain(
                declarations?.contains { JSON(Array($0.utf8)) == told } == true, "nobody declared \(told?.text ?? "")")
            let least = lasting.count { $0.contains("/\(name)/") }
            complain(row[isOfWidget ? "widgets" : "controls"]?.integer ?? -1 >= Int64(least), "\(least) of \(name)")
        }
        complain(sight.kinds.isSubset(of: names), "\(sight.kinds.subtracting(names).sorted()) are missing")
    }

    /// Its events, as they were published, up to the revision that is shown.
    private func judgeHistory(
        _ value: JSON, _ deed: ControlDeed, _ app: String, _ sight: Sight, _ complain: (Bool, String) -> Void
    ) {
        let family = Self.isOfWidget(deed) ? "widget" : "control"
        let events = value["events"]?.array ?? []
        // One that is placed again under its id has another history.
        guard let id = deed.id, let topic = lasting(sight, deed).first(where: { $0.hasSuffix("/" + id) }),
            let revision = value[family]?["revision"]?.integer
        else { return }
        let lines = ledger.history(of: topic, app).filter { $0.revision <= revision }
        let kept = lines.suffix(events.count).compactMap { JSON($0.json) }
        if family == "control", let control = witness.controls[topic], control.kind.isSensitive {
            // What a locked device hides is hidden here too, perhaps before its event says so.
            let isHidden = control.isRedacted(at: Int(revision))
            let hidden = kept.map { WitnessedControl.withoutContent($0) }
            let isLocked = control.device.map { sight.locked.contains($0) || oracle.isLocked($0) } ?? false
            complain(
                events == (isHidden ? hidden : kept) || isLocked && events == hidden,
                isHidden ? "a locked device's control shows its past" : "events that were not published")
        } else {
            complain(events == kept, "events that were not published")
        }
        complain(value["complete"] == .bool(events.count == lines.count), "complete, of \(lines.count) events")
        complain(areGone(lines.dropLast(events.count)), "it leaves out what is kept")
    }

    /// Each event was decided by its rule, at its date; what did nothing left what stands.
    private func judgeDecisions(
        _ decisions: [JSON], of entity: [String: JSON], _ deed: ControlDeed, _ topic: String, _ app: String,
        _ complain: (Bool, String) -> Void
    ) {
        // What happened since it was answered is not in it.
        let shown = entity["revision"]?.integer ?? .max
        let lines = ledger.history(of: topic, app).filter { Int64($0.revision) <= shown }
        let past = ExplainedPast(
            Self.isOfWidget(deed) ? .widget : .control, lines.compactMap { JSON($0.json) })
        if let fault = past.fault(of: decisions) { complain(false, fault) }
        complain(areGone(lines.prefix(past.leftOut(by: decisions))), "it leaves out decisions that are kept")
    }

    private func judgeStack(
        _ value: JSON, _ deed: ControlDeed, _ sight: Sight, at date: Int64, _ complain: (Bool, String) -> Void
    ) {
        let ids = (value["stack"]?.array ?? []).compactMap { $0["id"]?.string }
        complain(Set(ids).count == ids.count, "a widget stands twice in its stack")
        for topic in lasting(sight, deed).sorted() {
            complain(ids.contains { topic.hasSuffix("/" + $0) }, "\(topic) is missing in the stack")
        }
        let known = Set(lasting(sight, deed).compactMap { $0.split(separator: "/").last.map(String.init) })
        let fault = widgetWitness.fault(
            ofStack: value["stack"]?.array ?? [], known: known, at: date, isAtRest: deed.isAtRest)
        complain(fault == nil, fault ?? "")
        guard deed.isAtRest, let first = ids.first else { return }
        complain(widgetWitness.widget(id: first)?.isOnTop == true, "the first one does not stand on top by its events")
    }
}
