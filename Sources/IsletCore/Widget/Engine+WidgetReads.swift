/// What readers see of widgets: entries, timelines, budgets.
extension Engine {
    /// The exact bytes of the entry that a widget shows; no bytes where it shows none.
    package func withEntry<Result>(of record: WidgetRecord, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        withEntry(record.machine, record.timeline, record.carried, body)
    }

    /// The same as it was with an event, before the events are released: the widget may show another one by now.
    package func withEntry<Result>(of event: WidgetEvent, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        withEntry(event.after, event.timeline, event.carried, body)
    }

    private func withEntry<Result>(
        _ machine: WidgetMachine, _ timeline: PayloadHandle, _ carried: PayloadHandle,
        _ body: (UnsafeRawBufferPointer) -> Result
    ) -> Result {
        guard let index = machine.entryIndex else { return payloads.withBytes(carried, body) }
        return payloads.withBytes(timeline) { bytes in
            guard let entries = TimelineBlob(bytes)?.entries, Int(index) < entries.count else {
                return body(UnsafeRawBufferPointer(start: nil, count: 0))
            }
            return body(UnsafeRawBufferPointer(rebasing: bytes[entries[Int(index)].bytes.indices]))
        }
    }

    /// The entries of a widget's timeline; their bytes are ranges of ``WidgetRecord/timeline``. Empty where there is
    /// none.
    package func timeline(of record: WidgetRecord) -> [TimelineEntry] { blob(of: record)?.entries ?? [] }

    func blob(of record: WidgetRecord) -> TimelineBlob? { payloads.withBytes(record.timeline) { TimelineBlob($0) } }

    /// The place of the entry that this timeline shows, showed, or will show at a date; nil where that is none of it.
    package func entryIndex(of record: WidgetRecord, at date: Instant) -> Int? {
        guard let blob = blob(of: record), record.machine.timelineAt <= date else { return nil }
        let spacing = entrySpacing(of: record)
        var course = TimelineCourse(
            blob.entries, index: blob.firstIndex, shownAt: blob.firstShownAt, spacing: spacing)
        // From where it stands now on, if that is not later: spacing may have been lifted meanwhile.
        if let index = record.machine.entryIndex, record.machine.shownAt <= date {
            course = TimelineCourse(
                blob.entries, index: Int(index), shownAt: record.machine.shownAt, spacing: spacing)
        }
        _ = course.advance(blob.entries, to: date, spacing: spacing)
        return course.index
    }

    /// The action that a widget runs or ran last, and its parameters, a JSON object.
    package func action(of record: WidgetRecord) -> (name: [UInt8], parameters: [UInt8]?) {
        payloads.withBytes(record.action) { bytes in
            guard let end = bytes.firstIndex(of: 0) else { return (Array(bytes), nil) }
            let parameters = Array(bytes[(end + 1)...])
            return (Array(bytes[..<end]), parameters.isEmpty ? nil : parameters)
        }
    }

    /// What a widget may spend on reloads.
    package func budget(of record: WidgetRecord, at now: Instant) -> WidgetBudget {
        let ledger = ledger(of: record)
        let limit = ReloadLedger.limit(at: now, addedAt: record.addedAt, rules)
        let spent = ledger.spent(at: now)
        let freeAt = ledger.freeAt(now, addedAt: record.addedAt, rules)
        return WidgetBudget(
            limit: limit, spent: spent, left: max(0, limit - spent),
            isLearning: ReloadLedger.isLearning(at: now, addedAt: record.addedAt, rules),
            isDeveloperMode: isInDeveloperMode(record),
            lastReloadAt: record.machine.lastReloadAt.isSet ? record.machine.lastReloadAt : nil,
            freeAt: freeAt > now && freeAt.isSet ? freeAt : nil, spentAt: ledger.dates.suffix(spent),
            exempt: ReloadExemption.allCases.map { ($0, Int(ledger.exempt[Int($0.rawValue)])) },
            hold: record.machine.hold)
    }

    func ledger(of record: WidgetRecord) -> ReloadLedger {
        payloads.withBytes(record.ledger) { ReloadLedger($0) } ?? ReloadLedger()
    }
}
