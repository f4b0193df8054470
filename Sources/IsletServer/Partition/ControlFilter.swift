import IsletCore
import IsletProtocol

/// Which controls `control.list` asks for, with its names resolved.
struct ControlFilter: ListFilter {
    static var member: StaticString { "controls" }

    private let app: AppID
    private var kind: ControlKindID?
    private var device: DeviceID?
    private let state: ControlState?

    /// nil where a name is unknown, so that nothing matches.
    init?(_ list: ControlList, _ frame: Span<UInt8>, _ engine: borrowing Engine) {
        guard let app = engine.apps.find(list.app, of: frame) else { return nil }
        self.app = app
        state = list.state
        if let name = list.kind {
            guard let kind = engine.controls.kinds.find(app, frame.bytes(name)) else { return nil }
            self.kind = kind
        }
        if let name = list.device {
            guard let device = engine.devices.find(name, of: frame) else { return nil }
            self.device = device
        }
    }

    static func slotCount(in engine: borrowing Engine) -> Slot { engine.controls.slotCount }

    func matches(_ slot: Slot, in engine: borrowing Engine) -> Bool {
        guard let record = engine.controls.record(at: slot), record.machine.state != .removed,
            engine.controls.kinds.app(of: record.kind) == app
        else { return false }
        if let kind, record.kind != kind { return false }
        if let device, record.device != device { return false }
        if let state, record.machine.state != state { return false }
        return true
    }

    func writeRow(_ slot: Slot, in engine: borrowing Engine, to writer: inout JSONWriter) {
        guard let record = engine.controls.record(at: slot) else { return }
        writer.control(
            record, machine: record.machine, revision: record.revision, stateAt: record.dates.stateAt, of: engine)
    }
}
