package import IsletCore

/// Rows of the reads for who runs the service.
extension JSONWriter {
    /// One timer of `timer.list`: when, why, and whose.
    package mutating func timer(_ timer: ArmedTimer, of engine: borrowing Engine) {
        beginObject()
        field("at", timer.at)
        switch timer.cause {
        case .activity(let cause): field("cause", name: cause.wireName)
        case .control(let cause): field("cause", name: cause.wireName)
        case .widget(let cause): field("cause", name: cause.wireName)
        }
        identity(of: timer.place, of: engine)
        endObject()
    }

    /// Whose something is: the members that say which entity stands at a place, and in which state.
    package mutating func identity(of place: EntityPlace, of engine: borrowing Engine) {
        let slot = place.slot
        switch place.family {
        case .activity:
            guard let record = engine.record(at: slot) else { break }
            let kind = engine.apps.kinds[Int(record.kind)]
            holder("activity", kind.app, kind.type, record.id, of: engine)
            engine.withBytes(of: record.cold) { cold in
                if record.keyCount > 0 { field("key", plainBytes: cold, record.keyRange) }
            }
            device(record.device, of: engine)
            field("state", name: record.state.wireName)
        case .control:
            guard let record = engine.controls.record(at: slot) else { break }
            let kind = engine.controls.kinds[record.kind]
            holder("control", kind.app, kind.name, record.id, of: engine)
            device(record.device, of: engine)
            field("state", name: record.machine.state.wireName)
        case .widget:
            guard let record = engine.widgets.record(at: slot) else { break }
            let kind = engine.widgets.kinds[record.kind]
            holder("widget", kind.app, kind.name, record.id, of: engine)
            device(record.device, of: engine)
            field("state", name: record.machine.state.wireName)
        case .group: break
        }
    }

    private mutating func holder(
        _ family: StaticString, _ app: AppID, _ kind: [UInt8], _ id: EntityID, of engine: borrowing Engine
    ) {
        field("family", name: family)
        self.app(app, of: engine)
        field("kind", plain: kind.span)
        field("id", id)
    }

    /// Whose it is.
    package mutating func app(_ app: AppID, of engine: borrowing Engine) {
        field("app", plain: engine.apps[app].name.span)
    }

    private mutating func device(_ device: DeviceID?, of engine: borrowing Engine) {
        guard let device else { return }
        field("device", plain: engine.devices.name(device).span)
    }

    /// One device of `slot.list`: who holds its slots.
    package mutating func slots(_ slots: HeldSlots, of engine: borrowing Engine) {
        beginObject()
        field("device", plain: slots.device.span)
        field("held", slots.held)
        key("apps")
        beginArray()
        for share in slots.apps {
            beginObject()
            field("app", plain: engine.apps[share.app].name.span)
            field("held", share.held)
            endObject()
        }
        endArray()
        endObject()
    }
}
