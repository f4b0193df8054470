/// What recovery needs of an activity beside its payloads and names: the after-image of one event, or the state that a
/// snapshot shows.
///
/// Written by hand, field by field, and not as the record lies in memory: the next release reads it too.
package struct ActivityImage: Equatable, Sendable {
    /// The layout. A later release writes another number and still reads this one.
    static let version: UInt8 = 2
    /// The same layout without the date of the state.
    static let versionWithoutStateDate: UInt8 = 1

    package var machine: ActivityMachine
    /// The rule of the event that made it so.
    package var rule: Rule
    package var revision: UInt32
    /// See ``ActivityRecord/stateAt``.
    package var stateAt = Instant.never
    package var relevanceScore: Double
    package var ordinal: UInt64
    package var frequentPushes: Bool
    package var links: RenewalLinks
    /// Whether the event brought another content.
    package var contentChanged: Bool
    /// Whether it is the image of a start or of a snapshot, which carries everything.
    package var isWhole: Bool
    /// Only in a whole one.
    package var pushType: [UInt8] = []
    package var alert: [UInt8] = []
}

extension ImageWriter {
    /// The after-image of an event.
    package mutating func image(of event: ActivityEvent, in engine: borrowing Engine) {
        guard let record = engine.record(at: event.slot) else { preconditionFailure("an event of a freed slot") }
        image(
            machine: event.after, rule: event.rule, revision: event.revision, contentChanged: event.contentChanged,
            isWhole: event.before == nil, record, at: event.slot, in: engine)
    }

    /// The state of an activity as a snapshot shows it.
    package mutating func image(of record: ActivityRecord, at slot: Slot, in engine: borrowing Engine) {
        image(
            machine: record.machine, rule: .updated, revision: record.revision, contentChanged: true, isWhole: true,
            record, at: slot, in: engine)
    }

    private mutating func image(
        machine: ActivityMachine, rule: Rule, revision: UInt32, contentChanged: Bool, isWhole: Bool,
        _ record: ActivityRecord, at slot: Slot, in engine: borrowing Engine
    ) {
        let links = engine.renewal(of: slot, record)
        var flags: UInt8 = record.frequentPushes ? 1 : 0
        if contentChanged { flags |= 2 }
        if links.renews != nil { flags |= 4 }
        if links.renewedBy != nil { flags |= 8 }
        if isWhole { flags |= 16 }
        write(fixed: 31 + ActivityMachine.imageSize) { numbers in
            numbers.put(ActivityImage.version)
            machine.write(to: &numbers)
            numbers.put(rule.rawValue)
            numbers.put(revision)
            numbers.put(engine.relevanceScore(of: slot, record).bitPattern)
            numbers.put(record.ordinal)
            numbers.put(flags)
            numbers.put(record.stateAt)
        }
        if let renews = links.renews { write(renews) }
        if let renewedBy = links.renewedBy { write(renewedBy) }
        guard isWhole else { return }
        engine.withBytes(of: record.cold) { cold in
            write(run: UnsafeRawBufferPointer(rebasing: cold[record.pushTypeRange]))
            write(run: UnsafeRawBufferPointer(rebasing: cold[record.alertRange]))
        }
    }
}

extension ActivityImage {
    /// Reads an image of any release until now.
    package init(_ bytes: Span<UInt8>) throws(ImageError) {
        self = try ImageReader.read(bytes) { reader throws(ImageError) in try ActivityImage(&reader) }
    }

    private init(_ reader: inout ImageReader) throws(ImageError) {
        let version = try reader.byte()
        guard version == ActivityImage.version || version == ActivityImage.versionWithoutStateDate else {
            throw .unknownVersion(version)
        }
        machine = try ActivityMachine(&reader)
        rule = try reader.value()
        revision = try reader.integer()
        relevanceScore = Double(bitPattern: try reader.integer())
        ordinal = try reader.integer()
        guard ordinal < ActivityRecord.numberLimit else { throw .unknownValue }
        let flags = try reader.byte()
        guard flags < 32 else { throw .unknownValue }
        frequentPushes = flags & 1 != 0
        if version == ActivityImage.version { stateAt = try reader.instant() }
        guard stateAt.isPackable else { throw .contradiction("a date in no century") }
        contentChanged = flags & 2 != 0
        isWhole = flags & 16 != 0
        links = RenewalLinks()
        if flags & 4 != 0 { links.renews = try reader.entityID() }
        if flags & 8 != 0 { links.renewedBy = try reader.entityID() }
        if isWhole {
            pushType = try reader.bytesOfRun()
            alert = try reader.bytesOfRun()
        }
    }
}

extension Array where Element == UInt8 {
    /// A copy of some bytes; for cold paths.
    package init(_ span: Span<UInt8>) {
        self = span.withUnsafeBytes { Array($0) }
    }
}
