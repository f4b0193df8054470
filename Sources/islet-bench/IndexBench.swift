import IsletCore

/// From an id or a key to a slot, at as many entries as there are operations.
enum IndexBench {
    static func round(_ meter: inout Meter) {
        var random = SplitMix(seed: 2)
        let order = (0..<meter.population).shuffled(using: &random)
        table(&meter, order)
        engine(&meter, order)
    }

    /// The hash table alone.
    private static func table(_ meter: inout Meter, _ order: [Int]) {
        let ids = order.map { SampleFrames.id($0) }
        let strangers = order.map { SampleFrames.id($0 + ids.count) }
        var index = SlotIndex()
        var found = 0
        meter.measure("insert") { index.insert(ids[$0].keyedHash, Slot($0)) }
        meter.measure("find") { number in
            let id = ids[number]
            if index.find(id.keyedHash, matches: { ids[Int($0)] == id }) != nil { found += 1 }
        }
        meter.measure("find a stranger") { number in
            let id = strangers[number]
            if index.find(id.keyedHash, matches: { ids[Int($0)] == id }) != nil { found += 1 }
        }
        precondition(found == meter.count)
        meter.measure("remove") { index.remove(ids[$0].keyedHash, Slot($0)) }
        precondition(index.count == 0)
    }

    /// With what a command pays around it.
    private static func engine(_ meter: inout Meter, _ order: [Int]) {
        let now = Instant(1_780_000_000_000)
        var engine = Engine(rules: .standard, start: now)
        var frame = FrameBuilder()
        let app = frame.run(SampleFrames.app)
        let (type, empty) = (frame.run("Bench"), frame.run("{}"))
        let keys = (0..<meter.population).map { frame.run("order-\(1_000_000 + $0)") }
        let bytes = frame.bytes
        for number in keys.indices {
            var start = ActivityStart(app: app, type: type, attributes: empty, contentState: empty)
            start.id = SampleFrames.id(number)
            start.key = keys[number]
            _ = engine.apply(
                Command(operation: .activityStart(start)), of: bytes.span, at: now, freshID: EntityID(high: 0, low: 0))
            engine.releaseEvents()
        }
        var found = 0
        meter.measure("slot of an id") { if engine.slot(of: SampleFrames.id(order[$0])) != nil { found += 1 } }
        meter.measure("get by key") { number in
            let address = ActivityAddress(app: app, target: .key(keys[order[number]], device: nil))
            let outcome = engine.apply(
                Command(operation: .activityGet(address)), of: bytes.span, at: now, freshID: EntityID(high: 0, low: 0))
            if case .found = outcome { found += 1 }
        }
        precondition(found == 2 * meter.count)
    }
}
