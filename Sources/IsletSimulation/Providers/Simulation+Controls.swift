import IsletJournal
import IsletOracle

/// Commands about controls, and the judging of their events and answers.
extension Simulation {
    // MARK: Commands

    func newControlCommand(_ client: Int, _ app: String, isOfWidget: Bool = false) -> SentCommand {
        if random.oneIn(12), let (sent, at) = random.pick(controlLog), oracle.now - at < 300_000 {
            tally.retries += 1
            return random.oneIn(6) ? forged(sent) ?? sent : sent
        }
        // Now and then of what is another app's.
        let owner = random.oneIn(20) ? CommandMaker.apps[random.below(mix.apps)] : app
        if owner != app { tally.strangers += 1 }
        let (deed, fields): (ControlDeed, [String])
        if isOfWidget {
            var maker = WidgetMaker(
                random: SimRandom(seed: random.next()), mix: mix, app: app, number: nextDeed + 1)
            (deed, fields) = maker.make(ids: widgetWitness.ids(owner))
        } else {
            var maker = ControlMaker(random: SimRandom(seed: random.next()), mix: mix, app: app)
            (deed, fields) = maker.make(ids: witness.ids(owner))
        }
        var sent = controlCommand(app, deed, fields, client: random.oneIn(8) ? nil : client)
        if random.oneIn(25) {
            sent.wantsAnswer = false
            sent.bytes = Array("{\"ack\":\"none\",".utf8) + sent.bytes.dropFirst()
        }
        hurry(&sent, deed)
        if deed.isChange, sent.command.client != nil {
            controlLog.append((sent, oracle.now))
            if controlLog.count > 24 { controlLog.removeFirst() }
        }
        return sent
    }

    /// Some commands name a `ttl`, and some reads a `minSeq`: drawn from a copy, so that the rest of a step is what it
    /// would be without.
    private func hurry(_ sent: inout SentCommand, _ deed: ControlDeed) {
        var other = random
        var random = SimRandom(seed: other.next() ^ 0x7715)
        if random.oneIn(mix.isManual ? 4 : 20), let ttl = random.pick([0, 20, 300, 4_000, 60_000] as [Int64]) {
            sent.ttl = ttl
            sent.bytes = Array("{\"ttl\":\(ttl),".utf8) + sent.bytes.dropFirst()
        }
        guard deed.mayWait, random.oneIn(3) else { return }
        let minSeq = max(0, ledger.seq(sent.command.app) + random.below(8) - 3)
        sent.minSeq = minSeq
        sent.bytes = Array("{\"minSeq\":\(minSeq),".utf8) + sent.bytes.dropFirst()
    }

    /// What was answered well comes again with other bytes.
    private func forged(_ sent: SentCommand) -> SentCommand? {
        guard case .control(var deed) = sent.command.operation, let client = sent.command.client,
            let req = sent.command.req, let answer = controlAnswers[client + req]?.last, oracle.now - answer.at < 300_000
        else { return nil }
        deed.isForged = true
        tally.forgeries += 1
        var forged = sent
        forged.command.operation = .control(deed)
        forged.bytes.append(UInt8(ascii: " "))
        return forged
    }

    /// One message in which a control or a widget goes to another app.
    func movingMessage() -> Message? {
        let isOfWidget = mix.hasWidgets && (!mix.hasControls || random.oneIn(2))
        guard mix.apps > 1, mix.hasProviders else { return nil }
        let family = isOfWidget ? "widget" : "control"
        let from = random.below(mix.apps)
        let (app, other) = (CommandMaker.apps[from], CommandMaker.apps[(from + 1) % mix.apps])
        let listed = isOfWidget ? widgetWitness.listed(app).values.map(\.id) : witness.listed(app).values.map(\.id)
        guard let id = random.pick(listed.sorted()) else { return nil }
        var remove = ControlDeed("\(family).remove")
        remove.id = id
        var add = ControlDeed("\(family).add")
        add.id = id
        var fields = ["\"id\":\"\(id)\""]
        let kind: String
        if isOfWidget {
            let made = WitnessedWidgetKind.all[random.below(WitnessedWidgetKind.all.count)]
            kind = made.name
            fields.append("\"family\":\"\(made.families[0])\"")
        } else {
            kind = WitnessedKind.all[random.below(WitnessedKind.all.count)].name
        }
        add.kind = kind
        fields.append("\"kind\":\"\(kind)\"")
        tally.moves += 1
        let first = random.oneIn(2) ? [newCommand(0)] : []
        return message(
            first + [
                controlCommand(app, remove, ["\"id\":\"\(id)\""], client: 0),
                controlCommand(other, add, fields, client: 0),
            ])
    }

    /// A command with a `req` that names nothing else of its client.
    func controlCommand(_ app: String, _ made: ControlDeed, _ fields: [String], client: Int?) -> SentCommand {
        var deed = made
        deed.changes = world.changes
        nextDeed += 1
        var command = OracleCommand(app: app, .control(deed))
        // Each client counts for itself, so two of them say the same.
        if let client { controlReqs[client, default: 0] += 1 }
        let req = client.map { "c\(controlReqs[$0, default: 0])x" } ?? "u\(nextDeed)x"
        command.req = req
        var all = ["\"op\":\"\(deed.op)\"", "\"req\":\"\(req)\""] + fields
        // Only a Smart Stack is of no app.
        if deed.op != "widget.stack" { all.append("\"app\":\"\(app)\"") }
        if let client {
            command.client = "dddddddd-0000-4000-8000-00000000000\(client)"
            all.append("\"client\":\"dddddddd-0000-4000-8000-00000000000\(client)\"")
        }
        return SentCommand(command: command, bytes: Array(("{" + all.joined(separator: ",") + "}").utf8))
    }

    /// A tap is executed: the witness is told what it wants, and which devices are locked.
    func note(_ sent: SentCommand) {
        guard case .control(let deed) = sent.command.operation, let req = sent.command.req else { return }
        look(at: sent, deed)
        guard deed.id != nil, !deed.isForged, deed.op == "control.tap" || deed.op == "control.set" else { return }
        witness.noteTap(Self.asker(sent.command.client, req), isOn: deed.isOn, locked: oracle.lockedDevices)
    }

    // MARK: Events

    func judgeControl(
        _ event: JournalBatch.Event, _ topic: [UInt8], _ json: [UInt8], _ value: JSON, in batch: JournalBatch
    ) {
        tally.controlEvents += 1
        noteProvided(event, topic, json, value, in: batch, family: "control")
        witness.read(value, topic: String(decoding: topic, as: UTF8.self))
        complainOfControls()
    }

    /// What is the same of the events of controls and widgets.
    func noteProvided(
        _ event: JournalBatch.Event, _ topic: [UInt8], _ json: [UInt8], _ value: JSON, in batch: JournalBatch,
        family: String
    ) {
        let text = String(decoding: json, as: UTF8.self)
        log?("  journal \(batch.number): \(text)")
        tally.hash(json)
        let name = String(decoding: topic, as: UTF8.self)
        let app = String(decoding: batch.bytes(batch.rows[event.row].name), as: UTF8.self)
        expect(name.hasPrefix("\(app)/\(family)/"), "the topic of \(text)")
        expect(value["seq"] == .integer(Int64(ledger.seq(app) + 1)), "the seq of \(text)")
        expect(value["epoch"] == .string(String(decoding: epoch, as: UTF8.self)), "the epoch of \(text)")
        noteAsker(value)
        ledger.append(
            Ledger.Line(
                topic: topic, json: json, batch: batch.number, handle: nil,
                revision: Int(value[family]?["revision"]?.integer ?? 0),
                isListed: value["to"] != .string("removed")), app)
    }

    private func noteAsker(_ event: JSON) {
        guard let by = event["by"], let req = by["req"]?.string else { return }
        askers.insert(Self.asker(by["client"]?.string, req))
    }

    func complainOfControls() {
        if let complaint = witness.complaint ?? widgetWitness.complaint { expect(false, complaint) }
    }

    /// A crash: what is left is read again.
    func rereadControls() {
        guard mix.hasProviders else { return }
        witness.forget()
        widgetWitness.forget()
        askers.removeAll()
        // In the old order, because an id may be used again for a control of another app.
        for line in ledger.ofControls {
            guard let event = JSON(line.json) else { continue }
            let topic = String(decoding: line.topic, as: UTF8.self)
            noteAsker(event)
            if WidgetWitness.isOfWidget(topic) {
                widgetWitness.read(event, topic: topic)
            } else {
                witness.read(event, topic: topic)
            }
        }
        complainOfControls()
    }

    /// At rest every sensitive control is hidden where its device is locked, and no other one is.
    func checkRedaction() {
        for control in witness.controls.values where control.isListed {
            let isLocked = control.device.map { oracle.isLocked($0) } ?? false
            expect(
                control.isRedacted == (isLocked && control.kind.isSensitive),
                "locked: \(isLocked), and it is \(JSON.object(control.entity).text)")
        }
    }

    // MARK: Answers

    func judge(
        _ value: JSON, _ bytes: [UInt8], _ deed: ControlDeed, _ sent: SentCommand, at executedAt: Int64,
        _ complain: (Bool, String) -> Void
    ) {
        let app = sent.command.app
        complain(value["req"] == sent.command.req.map { .string($0) }, "another req")
        let published = ledger.published[app]?.seq ?? 0
        let sight = sent.command.req.flatMap { sights.removeValue(forKey: Self.asker(sent.command.client, $0)) }
        guard value["ok"] == .bool(true) else {
            let code = value["error"]?["code"]?.string ?? "?"
            if code == "expired" { return judgeExpiry(deed, sent, at: executedAt, sight, complain) }
            judgeRefusal(code, deed, sent, at: executedAt, sight, complain)
            if deed.isAtRest {
                let control = deed.id.flatMap { witness.control(id: $0) }
                let widget = deed.id.flatMap { widgetWitness.widget(id: $0) }
                let isThere =
                    control?.isListed == true && control?.app == app || widget?.isListed == true && widget?.app == app
                complain(code == "notFound" && !isThere, "it is there")
            }
            return
        }
        if let minSeq = sent.minSeq { complain(published >= minSeq, "it was to wait for \(minSeq)") }
        // Of several copies on their way the first that is answered takes what was noted of all.
        if deed.isExpired { complain(sight?.isFirst != true, "its time was over, and it is executed") }
        if deed.isChange, let client = sent.command.client, let req = sent.command.req {
            let known = controlAnswers[client + req, default: []]
            // Answers are remembered for ten minutes; they may come long after their execution, and in another order.
            for answer in known where abs(executedAt - answer.at) < 500_000 {
                complain(answer.bytes == bytes, "the first answer was \(String(decoding: answer.bytes, as: UTF8.self))")
            }
            if !known.contains(where: { $0.bytes == bytes }) {
                controlAnswers[client + req, default: []].append((bytes, executedAt))
            }
        }
        judgeContents(value, deed, sent, at: executedAt, sight, complain)
        if let seq = value["seq"]?.integer {
            complain(Int(seq) <= published, "a seq that is not published")
        }
        if deed.op.hasPrefix("widget.") { return judgeWidget(value, deed, app, at: executedAt, complain) }
        if deed.op == "control.reload" { reloaded(deed, app) }
        if deed.op == "control.list" {
            for row in value["controls"]?.array ?? [] { judgeRow(row, isAtRest: false, complain) }
            return
        }
        guard let shown = value["control"] else { return }
        if deed.op == "control.get" { return judgeRow(shown, isAtRest: deed.isAtRest, complain) }
        let revision = Int(shown["revision"]?.integer ?? 0)
        guard let id = shown["id"]?.string, let control = witness.control(id: id) else {
            return complain(false, "a control that never was")
        }
        // One that is placed again under its id has other revisions.
        guard control.life == 0, deed.isChange else { return }
        complain(
            revision > 0 && revision <= control.revision
                && control.versions[revision - 1]["state"] == shown["state"], "a revision that never was")
    }

    private func judgeRow(_ row: JSON, isAtRest: Bool, _ complain: (Bool, String) -> Void) {
        guard let entity = row.object, let control = entity["id"]?.string.flatMap({ witness.control(id: $0) }) else {
            return complain(false, "a control that never was")
        }
        complain(witness.everWas(entity, isRead: true), "it never was so: \(row.text)")
        if isAtRest {
            complain(control.isListed && control.entity == entity.asFollowed, "it is \(JSON.object(control.entity).text)")
        }
    }

    /// What changed before a reload was made is found out by it.
    private func reloaded(_ deed: ControlDeed, _ app: String) {
        for control in witness.listed(app).values {
            if let id = deed.id, id != control.id { continue }
            if let kind = deed.kind, kind != control.kind.name { continue }
            world.told(control.id, through: deed.changes)
        }
    }
}
