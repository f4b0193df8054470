package import IsletCore

/// What the reads of widgets answer, beside the entity.
extension JSONWriter {
    /// The members of `widget.timeline`: the timeline, and what it shows at a date.
    package mutating func timeline(of record: WidgetRecord, at date: Instant?, of engine: borrowing Engine) {
        let machine = record.machine
        key("timeline")
        beginObject()
        key("entries")
        beginArray()
        let entries = engine.timeline(of: record)
        for entry in entries {
            engine.withBytes(of: record.timeline) { bytes in
                raw(
                    UnsafeRawBufferPointer(rebasing: bytes[entry.bytes.indices]).assumingMemoryBound(to: UInt8.self)
                        .span)
            }
        }
        endArray()
        if machine.timelineAt.isSet {
            policy(machine.policy)
            field("timelineAt", machine.timelineAt)
        }
        if let index = machine.entryIndex { field("entryIndex", index) }
        next(of: machine)
        endObject()
        guard let date else { return }
        key("at")
        beginObject()
        field("at", date)
        if let index = engine.entryIndex(of: record, at: date), index < entries.count {
            field("entryIndex", index)
            engine.withBytes(of: record.timeline) { field("entry", rawBytes: $0, entries[index].bytes.indices) }
        } else if record.carried.count > 0, machine.timelineAt <= date {
            // All of the timeline is ahead then: what the one before showed last is kept.
            engine.withBytes(of: record.carried) { field("entry", rawBytes: $0, $0.indices) }
        }
        endObject()
    }

    /// The member `budget` of `widget.budget`.
    package mutating func budget(_ budget: WidgetBudget) {
        key("budget")
        beginObject()
        field("limit", budget.limit)
        field("spent", budget.spent)
        field("left", budget.left)
        field("isLearning", budget.isLearning)
        field("developerMode", budget.isDeveloperMode)
        if let date = budget.lastReloadAt { field("lastReloadAt", date) }
        if let date = budget.freeAt { field("freeAt", date) }
        key("spentAt")
        beginArray()
        for date in budget.spentAt { integer(date.milliseconds) }
        endArray()
        key("exempt")
        beginObject()
        for (exemption, count) in budget.exempt where count > 0 { field(exemption.wireName, count) }
        endObject()
        if let hold = budget.hold { held(hold, isWhole: true) }
        endObject()
    }

    /// The members of `widget.stack`: the Smart Stack of a device, the top first.
    package mutating func stack(_ rows: [StackRow], device: Span<UInt8>, of engine: borrowing Engine) {
        field("device", plain: device)
        key("stack")
        beginArray()
        for row in rows {
            let kind = engine.widgets.kinds[row.kind]
            beginObject()
            field("id", row.id)
            field("app", plain: engine.apps[kind.app].name.span)
            field("kind", plain: kind.name.span)
            field("rule", name: row.rule.wireName)
            // The shortest digits that mean this number, not those of its nearest Double.
            if let score = row.score { field("score", Double(score.description) ?? Double(score)) }
            if let until = row.until { field("until", until) }
            endObject()
        }
        endArray()
    }
}

extension StackRule {
    package var wireName: StaticString {
        switch self {
        case .entryRelevance: "entryRelevance"
        case .widgetRelevance: "widgetRelevance"
        case .placement: "placement"
        }
    }
}
