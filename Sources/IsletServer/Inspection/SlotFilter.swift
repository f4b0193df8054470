import IsletCore
import IsletProtocol

/// Which devices `slot.list` asks for: those that hold slots of the maxima. Its slots are devices' numbers.
struct SlotFilter: ListFilter {
    static var member: StaticString { "devices" }

    private var app: AppID?
    private var device: DeviceID?

    /// nil where a name is unknown, so that nothing matches.
    init?(_ list: SlotList, _ frame: Span<UInt8>, _ engine: borrowing Engine) {
        if let name = list.app {
            guard let app = engine.apps.find(name, of: frame) else { return nil }
            self.app = app
        }
        if let name = list.device {
            guard let device = engine.devices.find(name, of: frame) else { return nil }
            self.device = device
        }
    }

    static func slotCount(in engine: borrowing Engine) -> Slot { engine.devices.capacity }

    func matches(_ slot: Slot, in engine: borrowing Engine) -> Bool {
        if let device, slot != device { return false }
        return engine.heldSlots(on: slot, by: app) > 0
    }

    func writeRow(_ slot: Slot, in engine: borrowing Engine, to writer: inout JSONWriter) {
        guard let slots = engine.slotHolders(on: slot) else { return }
        writer.slots(slots, of: engine)
    }
}
