import IsletCore
import IsletProtocol

/// Which widgets a list shows.
struct WidgetFilter: ListFilter {
    private let app: AppID
    private var kind: DeclaredKindID?
    private var device: DeviceID?
    private let family: WidgetFamily?
    private let state: WidgetState?

    static var member: StaticString { "widgets" }

    /// nil where nothing can match.
    init?(_ list: WidgetList, _ frame: Span<UInt8>, _ engine: borrowing Engine) {
        guard let app = engine.apps.find(list.app, of: frame) else { return nil }
        self.app = app
        state = list.state
        family = list.family
        if let name = list.kind {
            guard let kind = engine.widgets.kinds.find(app, frame.bytes(name)) else { return nil }
            self.kind = kind
        }
        if let name = list.device {
            guard let device = engine.devices.find(name, of: frame) else { return nil }
            self.device = device
        }
    }

    static func slotCount(in engine: borrowing Engine) -> Slot { engine.widgets.slotCount }

    func matches(_ slot: Slot, in engine: borrowing Engine) -> Bool {
        guard let record = engine.widgets.record(at: slot), record.machine.state != .removed,
            engine.widgets.kinds.app(of: record.kind) == app
        else { return false }
        if let kind, record.kind != kind { return false }
        if let device, record.device != device { return false }
        if let family, record.family != family { return false }
        if let state, record.machine.state != state { return false }
        return true
    }

    func writeRow(_ slot: Slot, in engine: borrowing Engine, to writer: inout JSONWriter) {
        guard let record = engine.widgets.record(at: slot) else { return }
        writer.widget(
            record, machine: record.machine, revision: record.revision, stateAt: record.dates.stateAt, of: engine)
    }
}
