import IsletCore
import IsletOracle
import IsletServer

/// Judging answers.
extension Simulation {
    /// One answer frame.
    func judge(_ bytes: [UInt8], _ expectation: Expectation, _ sent: SentCommand) {
        let text = String(decoding: bytes, as: UTF8.self)
        guard let value = JSON(bytes), var told = value.object else { return expect(false, "no JSON: \(text)") }
        func complain(_ isRight: Bool, _ what: String) {
            expect(
                isRight,
                "\(what): the answer to\n    \(String(decoding: sent.bytes, as: UTF8.self))\n  is\n    \(text)")
        }
        if lacksRoom(value, expectation) { return }
        if !isUnavailable(expectation) {
            expect(
                expectation.shows <= committedEnd,
                "an answer shows place \(expectation.shows), and \(committedEnd) is committed: \(text)")
        }
        if case .again = expectation.say {
            if let first = firstAnswers[expectation.execution] {
                return complain(
                    first == bytes, "not the first answer, which was \(String(decoding: first, as: UTF8.self))")
            }
            guard let first = firstExpectations[expectation.execution] else {
                return complain(false, "an answer to no command")
            }
            firstAnswers[expectation.execution] = bytes
            return judge(bytes, first, sent)
        }
        if expectation.isAccepted, !expectation.execution.isEmpty { firstAnswers[expectation.execution] = bytes }
        if isExcused(value, expectation) { return }
        if case .awaited(let read) = expectation.say { return judge(&told, read, sent, complain) }
        if case .control(let deed) = expectation.say {
            return judge(value, bytes, deed, sent, at: expectation.executedAt, complain)
        }
        if case .refused(let code, _, _) = expectation.say, code == "badMessage" {
            return complain(value["error"]?["code"] == .string(code), "another error")
        }
        complain(told.removeValue(forKey: "req") == expectation.req.map { .string($0) }, "another req")
        complain(told.removeValue(forKey: "ok") == .bool(expectation.isAccepted), "not ok as it should be")
        if case .group(let say) = expectation.say {
            compare(&told, say, text, complain)
        } else {
            compare(&told, expectation, sent.command.app, complain)
        }
        complain(told.isEmpty, "members that nobody expects (\(told.keys.sorted()))")
    }

    private func isUnavailable(_ expectation: Expectation) -> Bool {
        switch expectation.say {
        case .refused(let code, _, _):
            ["unavailable", "badMessage", "unknownOp", "unknownField", "missingField"].contains(code)
        case .info, .now: isDiskFull
        case .applied, .ignored, .held, .settings, .entity, .history, .list, .control, .group, .awaited,
            .again:
            false
        }
    }

    /// Takes the members that are as they should be.
    private func compare(
        _ told: inout [String: JSON], _ expectation: Expectation, _ app: String, _ complain: (Bool, String) -> Void
    ) {
        func member(_ name: String, _ wanted: JSON?) {
            let found = told.removeValue(forKey: name)
            complain(found == wanted, "\(name) is \(found?.text ?? "absent") and should be \(wanted?.text ?? "absent")")
        }
        switch expectation.say {
        case .applied(let seq, let handle, let shape):
            member("outcome", .string("applied"))
            if let seq { position(&told, app, seq, complain) } else { member("seq", nil) }
            if let handle, let shape { member("activity", .object(oracle.short(handle, shape))) }
        case .ignored(let reason, let seq, let handle, let shape):
            member("outcome", .string("ignored"))
            member("reason", .string(reason))
            position(&told, app, seq, complain)
            member("activity", .object(oracle.short(handle, shape)))
        case .refused(let code, let retry, let detail):
            refused(&told, code, retry, detail, complain)
        case .held(let holder, let revision):
            let detail: [String: JSON] = [
                "id": .string(oracle.id(holder) ?? "?"), "revision": .integer(Int64(revision)),
            ]
            refused(&told, "conflict", "refresh", detail, complain)
        case .settings(let seq, let enabled, let frequent):
            if let seq {
                member("outcome", .string("applied"))
                position(&told, app, seq, complain)
            }
            member(
                "settings", .object(["activitiesEnabled": .bool(enabled), "frequentPushesEnabled": .bool(frequent)]))
        case .entity(let seq, let handle, let shape):
            position(&told, app, seq, complain)
            member("activity", .object(readEntity(handle, shape)))
        case .history(let handle, let shape): history(&told, handle, shape, complain)
        case .list(let rows): list(&told, rows, complain)
        case .info(let timers, let states): info(&told, timers, states, complain)
        case .now(let now): member("now", .integer(now))
        case .control, .group, .awaited, .again: break
        }
    }

    /// A sequence number behind so many events of activities; those of controls are nobody's to foretell.
    private func position(
        _ told: inout [String: JSON], _ app: String, _ activities: Int, _ complain: (Bool, String) -> Void
    ) {
        guard let seq = told.removeValue(forKey: "seq")?.integer.map({ Int($0) }) else {
            return complain(false, "no seq")
        }
        complain(seq <= ledger.published[app]?.seq ?? 0, "seq \(seq) is not published")
        let found = ledger.activities(app, through: seq)
        complain(found == activities, "seq \(seq) has \(found) events of activities and should have \(activities)")
    }

    private func refused(
        _ told: inout [String: JSON], _ code: String, _ retry: String, _ detail: [String: JSON],
        _ complain: (Bool, String) -> Void
    ) {
        var error = told.removeValue(forKey: "error")?.object ?? [:]
        complain(error.removeValue(forKey: "message")?.string?.isEmpty == false, "an error without a message")
        complain(error["code"] == .string(code), "the code should be \(code)")
        complain(error["retry"] == .string(retry), "retry should be \(retry)")
        if !["unknownOp", "unknownField", "missingField"].contains(code) {
            complain(error["detail"]?.object ?? [:] == detail, "the detail should be \(JSON.object(detail).text)")
        }
    }

    /// An activity as answers to reads show it.
    private func readEntity(_ handle: Handle, _ shape: Shape) -> [String: JSON] {
        var entity = oracle.entity(handle, shape, isRead: true)
        entity["stateAt"] = .integer(shape.stateAt)
        return entity
    }

    private func list(_ told: inout [String: JSON], _ rows: [Handle: Shape], _ complain: (Bool, String) -> Void) {
        var listed: [String: JSON] = [:]
        for row in told.removeValue(forKey: "activities")?.array ?? [] { listed[row["id"]?.string ?? ""] = row }
        complain(listed.count == rows.count, "\(listed.count) rows and not \(rows.count)")
        for (handle, shape) in rows {
            let wanted = JSON.object(readEntity(handle, shape))
            let row = listed[oracle.id(handle) ?? ""]
            complain(row == wanted, "a row is \(row?.text ?? "absent") and should be \(wanted.text)")
        }
        complain(told.removeValue(forKey: "total") == .integer(Int64(rows.count)), "the total")
        complain(told.removeValue(forKey: "exact") == .bool(true), "exact")
    }

    private func info(
        _ told: inout [String: JSON], _ timers: Int, _ states: [String: Int], _ complain: (Bool, String) -> Void
    ) {
        let info = told.removeValue(forKey: "info")
        let armed = info?["timers"]?.integer ?? -1
        // Those of controls that were removed meanwhile may be counted, but not once all rests. While the disk is full the
        // witness has not heard of those that were added last.
        let controls = isComparing ? witness.listedCount : witness.controls.count
        let widgets = isComparing ? widgetWitness.listedCount : widgetWitness.widgets.count
        let most = isDiskFull ? Int64.max : Int64(timers + controls + widgets)
        complain(armed >= Int64(timers) && armed <= most, "\(armed) timers and not \(timers)")
        let counts = info?["entities"]?.object ?? [:]
        complain(counts == states.mapValues { .integer(Int64($0)) }, "the counts should be \(states)")
    }

    /// The stored events of an activity, byte for byte, as far back as they are kept. However late it is answered, it
    /// says what is so at its place in its message.
    private func history(
        _ told: inout [String: JSON], _ handle: Handle, _ asked: Shape, _ complain: (Bool, String) -> Void
    ) {
        let activity = told.removeValue(forKey: "activity")?.object
        let revision = Int(activity?["revision"]?.integer ?? 0)
        complain(revision == asked.revision, "the revision should be \(asked.revision)")
        complain(activity.map(asFollowed) == asFollowed(oracle.short(handle, asked)), "the short form")
        let isComplete = told.removeValue(forKey: "complete")?.bool
        let since = told.removeValue(forKey: "sinceRevision")?.integer
        let events = told.removeValue(forKey: "events")?.array ?? []
        let lines = ledger.lines(of: handle, app: oracle.app(handle) ?? "").filter { $0.revision <= revision }
        let kept = lines.suffix(events.count)
        complain(events.map { Optional($0) } == kept.map { JSON($0.json) }, "events that were not published")
        complain(kept.allSatisfy { $0.batch <= journal.committed }, "events that are not committed")
        complain(isComplete == (events.count == lines.count), "complete")
        complain(areGone(lines.dropLast(events.count)), "it leaves out what is kept")
        if isComplete == false, let first = kept.first {
            complain(since == Int64(first.revision), "sinceRevision")
        }
    }

    /// Whether the journal keeps none of these any more.
    func areGone(_ lines: some Collection<Ledger.Line>) -> Bool {
        lines.allSatisfy { $0.batch <= disk.trimmedThrough }
    }

    /// Whether the disk became full before a read was answered.
    private func lacksRoom(_ value: JSON, _ expectation: Expectation) -> Bool {
        guard value["error"]?["detail"]?["reason"] == .string("diskFull") else { return false }
        switch expectation.say {
        case .history, .list, .awaited, .control, .refused, .settings, .entity, .group, .info, .now: return true
        case .applied, .ignored, .held, .again: return false
        }
    }

    /// Whether a history came too late, or too often.
    private func isExcused(_ value: JSON, _ expectation: Expectation) -> Bool {
        guard case .history(let handle, _) = expectation.say, value["ok"] == .bool(false) else { return false }
        let code = value["error"]?["code"]?.string
        return code == "busy" || code == "notFound" && !isRetained(handle)
    }
}
