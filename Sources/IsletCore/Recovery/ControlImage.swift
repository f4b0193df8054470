/// What recovery needs of a control: the after-image of one event, or the state that a snapshot shows. It carries
/// everything but the app, the kind and the id, which stand in its topic.
package struct ControlImage: Equatable, Sendable {
    /// The layout. A later release writes another number and still reads this one.
    static let version: UInt8 = 2
    /// The same layout of releases that kept no preview: what a button without a value of its provider's showed was
    /// its kind's.
    static let versionWithoutPreview: UInt8 = 1
    /// The layout with the date of an action that was given up behind the rest.
    static let versionWithGivenUpAction: UInt8 = 3
    /// The layout with that date, be it none, and the reason that the provider gave for its failure behind the rest.
    static let versionWithFailureReason: UInt8 = 4
    /// The layout with a byte that says which of the two stand behind the rest, and then the ``StateDates``.
    static let versionWithStateDates: UInt8 = 5

    package var machine: ControlMachine
    package var rule: ControlRule
    package var revision: UInt32
    package var addedAt: Instant
    package var device: [UInt8]
    package var configuration: [UInt8]
    package var value: [UInt8]
    package var texts: [UInt8]
    package var textCounts: ControlTextCounts
    package var isActive: Bool?
    package var actionGivenUpAt = Instant.never
    package var dates = StateDates()
    /// A JSON string with its quotes; empty: none.
    package var failureReason: [UInt8] = []
    /// Whether ``value`` holds the preview of a button whose value is not known.
    package var keepsPreview: Bool

    package init(_ bytes: Span<UInt8>) throws(ImageError) {
        self = try ImageReader.read(bytes) { reader throws(ImageError) in try ControlImage(&reader) }
    }

    private init(_ reader: inout ImageReader) throws(ImageError) {
        let version = try reader.byte()
        guard version >= Self.versionWithoutPreview, version <= Self.versionWithStateDates else {
            throw .unknownVersion(version)
        }
        keepsPreview = version != Self.versionWithoutPreview
        machine = try ControlMachine(&reader)
        rule = try reader.value()
        revision = try reader.integer()
        addedAt = try reader.instant()
        guard addedAt.isPlausible else { throw .contradiction("a date in no century") }
        device = try reader.bytesOfRun()
        configuration = try reader.bytesOfRun()
        value = try reader.bytesOfRun()
        texts = try reader.bytesOfRun()
        textCounts = ControlTextCounts()
        textCounts.status = try reader.integer()
        textCounts.tint = try reader.integer()
        textCounts.actionHint = try reader.integer()
        guard textCounts.actionHintRange.upperBound == texts.count else {
            throw .contradiction("texts of another length than they have")
        }
        guard max(configuration.count, value.count) <= PayloadStore.maximumCount else {
            throw .contradiction("a payload that is too long")
        }
        switch try reader.byte() {
        case 0: isActive = nil
        case 1: isActive = false
        case 2: isActive = true
        default: throw .unknownValue
        }
        switch version {
        case Self.versionWithGivenUpAction: actionGivenUpAt = try reader.dateOfGivenUpAction()
        case Self.versionWithFailureReason:
            actionGivenUpAt = try reader.dateOfGivenUpAction(mayBeNone: true)
            failureReason = try reader.failureReason(of: machine.failure)
            guard !failureReason.isEmpty else { throw .contradiction("a reason that is none") }
        case Self.versionWithStateDates:
            let parts = StateDates.Parts(rawValue: try reader.byte())
            guard parts.isSubset(of: .all) else { throw .unknownValue }
            if parts.contains(.givenUpAction) { actionGivenUpAt = try reader.dateOfGivenUpAction() }
            if parts.contains(.failureReason) { failureReason = try reader.failureReason(of: machine.failure) }
            dates = try StateDates(&reader, hasFailure: machine.failure != .none, parts)
        case _: break
        }
    }
}

extension ImageWriter {
    /// The after-image of a control's event.
    package mutating func image(of event: ControlEvent, in engine: borrowing Engine) {
        guard let record = engine.controls.record(at: event.slot) else {
            preconditionFailure("an event of a freed slot")
        }
        image(machine: event.after, event.rule, event.revision, record, event.dates, event.failureReason, in: engine)
    }

    /// The state of a control as a snapshot shows it.
    package mutating func image(of record: ControlRecord, in engine: borrowing Engine) {
        image(machine: record.machine, .added, record.revision, record, record.dates, record.failureReason, in: engine)
    }

    private mutating func image(
        machine: ControlMachine, _ rule: ControlRule, _ revision: UInt32, _ record: ControlRecord,
        _ dates: StateDates, _ failureReason: PayloadHandle, in engine: borrowing Engine
    ) {
        let hasDate = record.actionGivenUpAt.isSet
        let hasReason = failureReason.count > 0
        write(byte: ControlImage.versionWithStateDates)
        machine.write(to: &self)
        write(byte: rule.rawValue)
        write(revision)
        write(record.addedAt)
        write(run: record.device.map { engine.devices.name($0) } ?? [])
        for handle in [record.configuration, record.value, record.texts] { write(payload: handle, in: engine) }
        write(record.textCounts.status)
        write(record.textCounts.tint)
        write(record.textCounts.actionHint)
        write(byte: record.isActive.map { $0 ? 2 : 1 } ?? 0)
        write(byte: StateDates.Parts(hasDate, hasReason, dates).rawValue)
        if hasDate { write(record.actionGivenUpAt) }
        if hasReason { write(payload: failureReason, in: engine) }
        write(dates)
    }
}
