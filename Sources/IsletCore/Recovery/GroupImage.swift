/// What recovery needs of a key of an app group beside its value: the after-image of one event, or the state that a
/// snapshot shows. The group, its owner and the key stand in its topic, the value in the event's JSON.
package struct GroupImage: Equatable, Sendable {
    /// The layout. A later release writes another number and still reads this one.
    static let version: UInt8 = 1

    package var name: GroupEvent.Name
    package var revision: UInt32
    package var updatedAt: Instant
    /// The app that set it.
    package var by: [UInt8]

    package init(_ bytes: Span<UInt8>) throws(ImageError) {
        self = try ImageReader.read(bytes) { reader throws(ImageError) in try GroupImage(&reader) }
    }

    private init(_ reader: inout ImageReader) throws(ImageError) {
        let version = try reader.byte()
        guard version == Self.version else { throw .unknownVersion(version) }
        name = try reader.value()
        revision = try reader.integer()
        updatedAt = try reader.instant()
        guard updatedAt.isPlausible else { throw .contradiction("a date in no century") }
        by = try reader.bytesOfRun()
    }
}

extension ImageWriter {
    /// The after-image of a group's event.
    package mutating func image(of event: GroupEvent, in engine: borrowing Engine) {
        image(event.name, event.revision, event.at, by: event.by, in: engine)
    }

    /// The state of a key as a snapshot shows it.
    package mutating func image(of record: GroupItem, in engine: borrowing Engine) {
        image(.set, record.revision, record.updatedAt, by: record.by, in: engine)
    }

    private mutating func image(
        _ name: GroupEvent.Name, _ revision: UInt32, _ updatedAt: Instant, by app: AppID, in engine: borrowing Engine
    ) {
        write(byte: GroupImage.version)
        write(byte: name.rawValue)
        write(revision)
        write(updatedAt)
        write(run: engine.apps[app].name)
    }
}
