import IsletCore
import IsletProtocol

/// `entity.find` on its way through the slabs of all families, in bounded turns.
///
/// It counts all that have the name and keeps the first: those that are listed, then those that are over and still
/// readable. Over several turns entities may come and go under it; then what it says is said to be inexact, and rows
/// that hold no longer are left out.
final class FindScan {
    private var filter: FindFilter?
    private let limit: Int
    private var families: [EntityFamily]
    private var nextSlot: Slot = 0
    private var turns = 0
    private var listed: [EntityPlace] = []
    private var retained: [EntityPlace] = []
    private var total = 0

    /// - Parameter filter: nil where nothing matches.
    init(_ filter: FindFilter?, limit: Int, _ engine: borrowing Engine) {
        self.filter = filter
        self.limit = limit
        families = filter.map { filter in filter.family.map { [$0] } ?? Engine.timedFamilies } ?? []
        guard let id = filter?.id else { return }
        // Of an id the index tells. Where nothing has it, it may be an activity's key, which is of any form.
        for family in families {
            if let place = engine.place(of: id, in: family) { look(at: place, engine) }
        }
        families = total == 0 && families.contains(.activity) ? [.activity] : []
        if families.isEmpty { turns = 1 }
    }

    /// Looks at some more slots; true when it is through.
    func advance(_ engine: borrowing Engine) -> Bool {
        var left = ListBounds.slotsPerTurn
        return advance(engine, left: &left)
    }

    /// - Parameter left: how many slots it may look at; what is left of them afterwards.
    func advance(_ engine: borrowing Engine, left: inout Slot) -> Bool {
        guard !families.isEmpty else { return true }
        turns += 1
        while let family = families.first {
            let count = engine.slotCount(of: family)
            let end = Slot(min(UInt64(count), UInt64(nextSlot) + UInt64(left)))
            left -= end - min(end, nextSlot)
            while nextSlot < end {
                look(at: EntityPlace(family, nextSlot), engine)
                nextSlot += 1
            }
            guard end == count else { return false }
            families.removeFirst()
            nextSlot = 0
        }
        return true
    }

    private func look(at place: EntityPlace, _ engine: borrowing Engine) {
        guard filter?.matches(place, in: engine) == true else { return }
        total += 1
        if engine.isListed(at: place) {
            if listed.count < limit { listed.append(place) }
        } else if retained.count < limit {
            retained.append(place)
        }
    }

    /// Writes the answer.
    func write(to writer: inout JSONWriter, _ envelope: Envelope, _ frame: Span<UInt8>, of engine: borrowing Engine) {
        writer.beginAnswer(envelope, frame, ok: true)
        writer.key("found")
        writer.beginArray()
        for place in (listed + retained).prefix(limit) where turns <= 1 || filter?.matches(place, in: engine) == true {
            writer.beginObject()
            writer.identity(of: place, of: engine)
            writer.endObject()
        }
        writer.endArray()
        writer.field("total", total)
        writer.field("exact", turns <= 1)
        writer.endObject()
    }
}

extension Engine {
    /// Where the entity of an id stands.
    fileprivate func place(of id: EntityID, in family: EntityFamily) -> EntityPlace? {
        let slot =
            switch family {
            case .activity: self.slot(of: id)
            case .control: controls.slot(of: id)
            case .widget: widgets.slot(of: id)
            case .group: nil as Slot?
            }
        return slot.map { EntityPlace(family, $0) }
    }

    /// Whether what stands at a place is listed: it is not over.
    fileprivate func isListed(at place: EntityPlace) -> Bool {
        switch place.family {
        case .activity: record(at: place.slot)?.state.isListed ?? false
        case .control, .widget: true
        case .group: false
        }
    }
}

/// What `entity.find` looks for, with its names resolved.
struct FindFilter {
    /// An end of an id has at least so many digits, where it is all that is named…
    private static let digitsAlone = 12
    /// …and where its kind is, too.
    private static let digitsOfKind = 4

    let family: EntityFamily?
    /// The id, where the name is one.
    let id: EntityID?
    private var app: AppID?
    private var device: DeviceID?
    private let name: [UInt8]
    /// The kind that is named, or what is before the slash of `Torch/27e5fe81cfb1`; its last part in small letters, too.
    private let kind: [UInt8]
    private let shortKind: [UInt8]
    /// The end of an id that is named, and the bits that count.
    private let end: (bits: UInt64, mask: UInt64)?
    /// Whether kind and end are both named.
    private let isBoth: Bool
    /// The kind of controls and of widgets that was compared last, and whether it is the one.
    private var lastControl: (kind: ControlKindID, isNamed: Bool)?
    private var lastWidget: (kind: DeclaredKindID, isNamed: Bool)?

    /// nil where a name is unknown, so that nothing matches.
    init?(_ find: EntityFind, _ frame: Span<UInt8>, _ engine: borrowing Engine) {
        family = find.family
        id = EntityID(text: frame, at: find.name)
        name = frame.bytes(find.name)
        if let slash = name.lastIndex(of: UInt8(ascii: "/")) {
            kind = Array(name[..<slash])
            end = Self.end(name[(slash + 1)...], atLeast: Self.digitsOfKind)
            isBoth = true
        } else {
            kind = name
            end = Self.end(name[...], atLeast: Self.digitsAlone)
            isBoth = false
        }
        shortKind = kind.map(Self.small)
        if let name = find.app {
            guard let app = engine.apps.find(name, of: frame) else { return nil }
            self.app = app
        }
        if let name = find.device {
            guard let device = engine.devices.find(name, of: frame) else { return nil }
            self.device = device
        }
    }

    /// The last digits of an id as a number; nil where it is no such end.
    private static func end(_ digits: ArraySlice<UInt8>, atLeast minimum: Int) -> (bits: UInt64, mask: UInt64)? {
        guard (minimum...12).contains(digits.count) else { return nil }
        var bits: UInt64 = 0
        for digit in digits {
            switch small(digit) {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): bits = bits << 4 | UInt64(digit - UInt8(ascii: "0"))
            case UInt8(ascii: "a")...UInt8(ascii: "f"): bits = bits << 4 | UInt64(small(digit) - UInt8(ascii: "a") + 10)
            default: return nil
            }
        }
        return (bits, 1 << UInt64(4 * digits.count) - 1)
    }

    private static func small(_ letter: UInt8) -> UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(letter) ? letter | 0x20 : letter
    }

    /// Whether the entity at a place is called so.
    mutating func matches(_ place: EntityPlace, in engine: borrowing Engine) -> Bool {
        guard isNamed(place, in: engine) else { return false }
        guard app != nil || device != nil else { return true }
        guard let owner = engine.owner(at: place) else { return false }
        if let app, owner.app != app { return false }
        if let device, owner.device != device { return false }
        return true
    }

    private mutating func isNamed(_ place: EntityPlace, in engine: borrowing Engine) -> Bool {
        switch place.family {
        case .activity:
            guard let record = engine.record(at: place.slot), !record.isKeyOnly else { return false }
            if let id, record.id == id { return true }
            if !isBoth, isEnd(of: record.id) { return true }
            return Int(record.keyCount) == name.count
                && engine.withBytes(of: record.cold) { $0[record.keyRange].elementsEqual(name) }
        case .control:
            guard let record = engine.controls.record(at: place.slot), record.machine.state != .removed else {
                return false
            }
            if let id { return record.id == id }
            if lastControl?.kind != record.kind {
                lastControl = (record.kind, isNamed(kind: engine.controls.kinds[record.kind].name))
            }
            return isNamed(record.id, ofNamedKind: lastControl?.isNamed == true)
        case .widget:
            guard let record = engine.widgets.record(at: place.slot), record.machine.state != .removed else {
                return false
            }
            if let id { return record.id == id }
            if lastWidget?.kind != record.kind {
                lastWidget = (record.kind, isNamed(kind: engine.widgets.kinds[record.kind].name))
            }
            return isNamed(record.id, ofNamedKind: lastWidget?.isNamed == true)
        case .group: return false
        }
    }

    private func isEnd(of id: EntityID) -> Bool { end.map { id.low & $0.mask == $0.bits } ?? false }

    private func isNamed(_ id: EntityID, ofNamedKind isOfKind: Bool) -> Bool {
        isBoth ? isOfKind && isEnd(of: id) : isOfKind || isEnd(of: id)
    }

    /// Whether it is the kind that is named, in full or by its last part in letters of either case.
    private func isNamed(kind: [UInt8]) -> Bool {
        if kind == self.kind { return true }
        let start = kind.lastIndex(of: UInt8(ascii: ".")).map { $0 + 1 } ?? 0
        return kind.count - start == shortKind.count && kind[start...].map(Self.small) == shortKind
    }
}
