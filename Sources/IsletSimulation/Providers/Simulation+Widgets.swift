import IsletCore
import IsletJournal
import IsletOracle
import IsletServer

/// The judging of widgets' events and answers.
extension Simulation {
    // MARK: Events

    func judgeWidget(
        _ event: JournalBatch.Event, _ topic: [UInt8], _ json: [UInt8], _ value: JSON, in batch: JournalBatch
    ) {
        tally.widgetEvents += 1
        noteProvided(event, topic, json, value, in: batch, family: "widget")
        widgetWitness.read(value, topic: String(decoding: topic, as: UTF8.self))
        complainOfControls()
    }

    /// No date of a widget passes without its effect, once everything was handed over.
    func checkDueWidgets() {
        guard mix.hasWidgets, !isDiskFull, !partition.isStopping, journal.inFlight == 0, travel == nil else {
            return overdue.removeAll()
        }
        let now = domain.now
        for (topic, widget) in widgetWitness.widgets {
            guard widget.isListed, let next = widget.nextAt, next <= now else {
                overdue[topic] = nil
                continue
            }
            let known = overdue[topic]
            let count = known?.revision == widget.revision ? (known?.count ?? 0) + 1 : 1
            overdue[topic] = (widget.revision, count)
            expect(count <= 4, "it is \(now - next) ms late: \(JSON.object(widget.entity).text)")
        }
    }

    // MARK: Answers

    func judgeWidget(
        _ value: JSON, _ deed: ControlDeed, _ app: String, at executedAt: Int64, _ complain: (Bool, String) -> Void
    ) {
        if deed.op == "widget.list" {
            for row in value["widgets"]?.array ?? [] {
                complain(row.object.map { widgetWitness.everWas($0, isRead: true) } ?? false, "it never was so: \(row.text)")
            }
            return
        }
        guard let id = deed.id ?? value["widget"]?["id"]?.string else { return }
        guard let widget = widgetWitness.widget(id: id) else { return complain(false, "a widget that never was") }
        let seq = Int(value["seq"]?.integer ?? 0)
        if deed.isAtRest { tally.settled += 1 }
        // One that is placed again under its id has other revisions, and may be another app's by now.
        let isThis = widget.app == app && widget.seqs(contain: seq)
        switch deed.op {
        case "widget.get":
            guard let entity = value["widget"]?.object else { return complain(false, "no widget") }
            complain(widgetWitness.everWas(entity, isRead: true), "it never was so")
            if isThis, let wanted = widget.version(at: seq) {
                complain(wanted == entity.asFollowed, "at \(seq) it was \(JSON.object(wanted).text)")
            }
        case "widget.budget":
            guard isThis, let budget = value["budget"] else { return }
            tally.budgets += 1
            let fault = widgetWitness.fault(ofBudget: budget, widget, seq: seq, at: executedAt)
            complain(fault == nil, fault ?? "")
        case "widget.timeline":
            guard isThis, let wanted = widget.version(at: seq), let timeline = value["timeline"] else { return }
            for member in ["entryIndex", "timelineAt", "policy", "next"] {
                complain(timeline[member] == wanted[member], "\(member) should be \(wanted[member]?.text ?? "absent")")
            }
            let count = timeline["entries"]?.array?.count ?? 0
            complain(Int64(count) == wanted["entries"]?.integer ?? 0, "\(count) entries")
            if let index = wanted["entryIndex"]?.integer, index < count {
                complain(timeline["entries"]?.array?[Int(index)] == wanted["entry"], "another entry at \(index)")
            }
        default:
            guard isThis, widget.life == 0, deed.isChange, let shown = value["widget"] else { return }
            let revision = Int(shown["revision"]?.integer ?? 0)
            complain(
                revision > 0 && revision <= widget.revision
                    && widget.versions[revision - 1]["state"] == shown["state"], "a revision that never was")
        }
    }

    // MARK: Settling

    /// Why widgets are not at rest with everybody answering.
    var unsettledWidget: String? {
        for widget in widgetWitness.widgets.values where widget.isListed {
            if widget.isBusy || widget.failure == "noProvider" && !widget.isHeld {
                return JSON.object(widget.entity).text
            }
        }
        return nil
    }

    /// Reads of each widget: what its events say.
    func widgetReads() -> [SentCommand] {
        var commands: [SentCommand] = []
        for app in CommandMaker.apps.prefix(mix.apps) {
            for id in widgetWitness.ids(app).suffix(40) {
                for op in ["widget.get", "widget.budget", "widget.timeline"] {
                    var deed = ControlDeed(op)
                    deed.id = id
                    deed.isAtRest = true
                    commands.append(controlCommand(app, deed, ["\"id\":\"\(id)\""], client: nil))
                }
            }
        }
        for device in 0..<mix.devices {
            var deed = ControlDeed("widget.stack")
            deed.device = "d\(device)"
            deed.isAtRest = true
            commands.append(
                controlCommand(CommandMaker.apps[0], deed, ["\"device\":\"d\(device)\""], client: nil))
        }
        return commands
    }
}
