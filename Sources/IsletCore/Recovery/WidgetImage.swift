/// What recovery needs of a widget: the after-image of one event, or the state that a snapshot shows.
///
/// A whole one carries everything but the app, the kind and the id, which stand in its topic. The one of an event
/// carries, beside the machine, only what the event changed: timelines are long, and most events leave them alone.
package struct WidgetImage: Equatable, Sendable {
    /// The layout. The first one knew of no order among those that were placed at one date.
    static let version: UInt8 = 2
    /// The layout with the date of an action that was given up behind the rest.
    static let versionWithGivenUpAction: UInt8 = 3
    /// The layout with that date, be it none, and the reason that the provider gave for its failure, or that it gives none
    /// any more, behind the rest.
    static let versionWithFailureReason: UInt8 = 4
    /// The layout with a byte that says which of the two stand behind the rest, and then the ``StateDates``.
    static let versionWithStateDates: UInt8 = 5

    /// What does not change, or seldom.
    package struct Whole: Equatable, Sendable {
        package var family: WidgetFamily
        package var device: [UInt8]
        package var configuration: [UInt8]
        package var rendering: [UInt8]
    }

    /// A timeline, and the entry of the one before that is shown still.
    package struct Timeline: Equatable, Sendable {
        /// A ``TimelineBlob``; empty: none.
        package var blob: [UInt8]
        package var carried: [UInt8]
    }

    package var machine: WidgetMachine
    package var rule: WidgetRule
    package var revision: UInt32
    /// It tells the lives of an id apart.
    package var addedAt: Instant
    /// Its place in the order of placing; 0: an earlier release wrote none.
    package var ordinal: UInt64
    package var whole: Whole?
    package var timeline: Timeline?
    package var ledger: [UInt8]?
    package var actionGivenUpAt = Instant.never
    package var dates = StateDates()
    /// A JSON string with its quotes, empty where there is none; nil: the event did not change it, or it is none as the
    /// failure is none that has one.
    package var failureReason: [UInt8]?

    /// Whether it is the image of a beginning or of a snapshot, which carries everything.
    package var isWhole: Bool { whole != nil }

    package init(_ bytes: Span<UInt8>) throws(ImageError) {
        self = try ImageReader.read(bytes) { reader throws(ImageError) in try WidgetImage(&reader) }
    }

    private init(_ reader: inout ImageReader) throws(ImageError) {
        let version = try reader.byte()
        guard (1...Self.versionWithStateDates).contains(version) else { throw .unknownVersion(version) }
        let flags = try reader.byte()
        guard flags < 8 else { throw .unknownValue }
        machine = try WidgetMachine(&reader)
        rule = try reader.value()
        revision = try reader.integer()
        addedAt = try reader.instant()
        guard addedAt.isSet, addedAt.isPlausible else { throw .contradiction("a date in no century") }
        ordinal = version > 1 ? try reader.integer() : 0
        guard ordinal < ActivityRecord.numberLimit else { throw .unknownValue }
        if flags & 1 != 0 {
            whole = Whole(
                family: try reader.value(), device: try reader.bytesOfRun(), configuration: try reader.bytesOfRun(),
                rendering: try reader.bytesOfRun())
        }
        if flags & 2 != 0 { timeline = Timeline(blob: try reader.bytesOfRun(), carried: try reader.bytesOfRun()) }
        if flags & 4 != 0 { ledger = try reader.bytesOfRun() }
        switch version {
        case Self.versionWithGivenUpAction: actionGivenUpAt = try reader.dateOfGivenUpAction()
        case Self.versionWithFailureReason:
            actionGivenUpAt = try reader.dateOfGivenUpAction(mayBeNone: true)
            failureReason = try reader.failureReason(of: machine.failure)
        case Self.versionWithStateDates:
            let parts = StateDates.Parts(rawValue: try reader.byte())
            guard parts.isSubset(of: .all) else { throw .unknownValue }
            if parts.contains(.givenUpAction) { actionGivenUpAt = try reader.dateOfGivenUpAction() }
            if parts.contains(.failureReason) { failureReason = try reader.failureReason(of: machine.failure) }
            dates = try StateDates(&reader, hasFailure: machine.failure != .none, parts)
        case _: break
        }
        try check()
    }

    private func check() throws(ImageError) {
        if whole != nil, timeline == nil || ledger == nil { throw .contradiction("a part of what is whole") }
        for bytes in [whole?.configuration, whole?.rendering, timeline?.blob, timeline?.carried, ledger] {
            if let bytes, bytes.count > PayloadStore.maximumCount {
                throw .contradiction("a payload that is too long")
            }
        }
        if let blob = timeline?.blob, !blob.isEmpty, blob.withUnsafeBytes({ TimelineBlob($0) }) == nil {
            throw .contradiction("a timeline that is none")
        }
        if let ledger, ledger.withUnsafeBytes({ ReloadLedger($0) }) == nil {
            throw .contradiction("a ledger that is none")
        }
    }
}

extension ImageWriter {
    /// The after-image of a widget's event.
    package mutating func image(of event: WidgetEvent, in engine: borrowing Engine) {
        guard let record = engine.widgets.record(at: event.slot) else {
            preconditionFailure("an event of a freed slot")
        }
        let isWhole: Bool
        switch event.name {
        case .added, .configured: isWhole = true
        case .reloading, .timeline, .entry, .held, .failed, .acting, .performed, .tapped, .rotated, .removed:
            isWhole = false
        }
        image(
            machine: event.after, event.rule, event.revision, isWhole: isWhole,
            hasTimeline: isWhole || event.changes.timeline, hasLedger: isWhole || event.changes.ledger,
            hasReason: event.after.failure == .threw
                && (event.changes.failureReason || isWhole && event.failureReason.count > 0),
            record, event.dates, event.timeline, event.carried, event.failureReason, in: engine)
    }

    /// The state of a widget as a snapshot shows it.
    package mutating func image(of record: WidgetRecord, in engine: borrowing Engine) {
        image(
            machine: record.machine, .added, record.revision, isWhole: true, hasTimeline: true, hasLedger: true,
            hasReason: record.failureReason.count > 0, record, record.dates, record.timeline, record.carried,
            record.failureReason, in: engine)
    }

    private mutating func image(
        machine: WidgetMachine, _ rule: WidgetRule, _ revision: UInt32, isWhole: Bool, hasTimeline: Bool,
        hasLedger: Bool, hasReason: Bool, _ record: WidgetRecord, _ dates: StateDates, _ timeline: PayloadHandle,
        _ carried: PayloadHandle, _ failureReason: PayloadHandle, in engine: borrowing Engine
    ) {
        let hasDate = record.actionGivenUpAt.isSet
        write(byte: WidgetImage.versionWithStateDates)
        write(byte: (isWhole ? 1 : 0) | (hasTimeline ? 2 : 0) | (hasLedger ? 4 : 0))
        machine.write(to: &self)
        write(byte: rule.rawValue)
        write(revision)
        write(record.addedAt)
        write(record.ordinal)
        if isWhole {
            write(byte: record.family.rawValue)
            write(run: record.device.map { engine.devices.name($0) } ?? [])
            write(payload: record.configuration, in: engine)
            write(payload: record.rendering, in: engine)
        }
        if hasTimeline {
            write(payload: timeline, in: engine)
            write(payload: carried, in: engine)
        }
        if hasLedger { write(payload: record.ledger, in: engine) }
        write(byte: StateDates.Parts(hasDate, hasReason, dates).rawValue)
        if hasDate { write(record.actionGivenUpAt) }
        if hasReason { write(payload: failureReason, in: engine) }
        write(dates)
    }

    mutating func write(payload: PayloadHandle, in engine: borrowing Engine) {
        let bytes = engine.withBytes(of: payload) { [UInt8]($0) }
        write(run: bytes)
    }
}

/// What recovery needs of the machine.
extension WidgetMachine {
    func write(to writer: inout ImageWriter) {
        writer.write(byte: state.rawValue)
        writer.write(byte: cause.rawValue)
        var flags: UInt8 = hasEntry ? 1 : 0
        if needsLogin { flags |= 2 }
        if isOnTop { flags |= 4 }
        if isOver { flags |= 8 }
        if entryIndex != nil { flags |= 16 }
        if hold != nil { flags |= 32 }
        if dirtyCause != nil { flags |= 64 }
        writer.write(byte: flags)
        writer.write(entryIndex ?? 0)
        writer.write(entryCount)
        switch policy {
        case .atEnd: writer.write(byte: 0)
        case .never: writer.write(byte: 1)
        case .after(let date):
            writer.write(byte: 2)
            writer.write(date)
        }
        writer.write(byte: failure.rawValue)
        writer.write(byte: failures)
        if let hold {
            writer.write(hold.until)
            writer.write(byte: hold.reason.rawValue)
            writer.write(byte: hold.cause.rawValue)
            writer.write(hold.merged)
        }
        if let dirtyCause { writer.write(byte: dirtyCause.rawValue) }
        switch charge {
        case .none: writer.write(byte: 0)
        case .charged: writer.write(byte: 1)
        case .exempt(let exemption):
            writer.write(byte: 2)
            writer.write(byte: exemption.rawValue)
        }
        for date in [
            timelineAt, shownAt, lastReloadAt, previousReloadAt, nextEntryAt, policyAt, retryAt, relevanceEndsAt,
        ] {
            writer.write(date)
        }
        writer.write(score.bitPattern)
    }

    /// Reads what ``write(to:)`` wrote.
    init(_ reader: inout ImageReader) throws(ImageError) {
        self.init(at: .never, isOnTop: false)
        state = try reader.value()
        cause = try reader.value()
        let flags = try reader.byte()
        guard flags < 128 else { throw .unknownValue }
        hasEntry = flags & 1 != 0
        needsLogin = flags & 2 != 0
        isOnTop = flags & 4 != 0
        isOver = flags & 8 != 0
        let index = try reader.integer(UInt16.self)
        entryIndex = flags & 16 != 0 ? index : nil
        entryCount = try reader.integer()
        switch try reader.byte() {
        case 0: policy = .atEnd
        case 1: policy = .never
        case 2: policy = .after(try reader.instant())
        default: throw .unknownValue
        }
        failure = try reader.value()
        failures = try reader.byte()
        if flags & 32 != 0 {
            hold = Hold(
                until: try reader.instant(), reason: try reader.value(), cause: try reader.value(),
                merged: try reader.integer())
        }
        if flags & 64 != 0 { dirtyCause = try reader.value() as WidgetCause }
        switch try reader.byte() {
        case 0: charge = .none
        case 1: charge = .charged
        case 2: charge = .exempt(try reader.value())
        default: throw .unknownValue
        }
        timelineAt = try reader.instant()
        shownAt = try reader.instant()
        lastReloadAt = try reader.instant()
        previousReloadAt = try reader.instant()
        nextEntryAt = try reader.instant()
        policyAt = try reader.instant()
        retryAt = try reader.instant()
        relevanceEndsAt = try reader.instant()
        score = Float(bitPattern: try reader.integer())
        try checkParts()
    }

    /// What no machine can be, however it was reached, was not written by one.
    private func checkParts() throws(ImageError) {
        switch state {
        case .loading, .placeholder:
            guard !hasEntry else { throw .contradiction("an entry of a widget that shows none") }
        case .shown, .reloading, .acting:
            guard hasEntry else { throw .contradiction("no entry of a widget that shows one") }
        case .removed: break
        }
        if let entryIndex, !hasEntry || entryIndex >= entryCount { throw .contradiction("an entry that is not there") }
        guard score >= 0, score <= 1 else { throw .contradiction("a relevance above the highest") }
        if hold != nil, state != .placeholder, state != .shown { throw .contradiction("a hold that nothing waits for") }
        var dates = [
            timelineAt, shownAt, lastReloadAt, previousReloadAt, nextEntryAt, policyAt, retryAt, relevanceEndsAt,
        ]
        if let hold { dates.append(hold.until) }
        if case .after(let date) = policy { dates.append(date) }
        for date in dates where !date.isPlausible { throw .contradiction("a date in no century") }
    }
}
