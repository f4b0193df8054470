import IsletCore
import Testing

/// An engine writes itself down as a snapshot does, and a fresh one takes it back.
@Suite("Recovery: an engine from what was written")
struct EngineRestoreTests {
    private let hour = MachineSample.hour

    /// Every activity and fact of a rig in a fresh engine, as recovery restores them.
    private func restored(
        _ rig: EngineRig, isProven: Bool = true, skipping left: Slot? = nil
    ) throws -> EngineRig {
        let copy = EngineRig(at: rig.now)
        copy.isChecked = false
        var writer = ImageWriter()
        for app in rig.engine.apps.apps.indices {
            writer.removeAll()
            rig.engine.writeFact(app: AppID(app), to: &writer)
            let (key, value) = (rig.engine.factKey(app: AppID(app)), writer.bytes)
            let isOurs = try copy.engine.restoreFact(key.span, value.span, isInSnapshot: true)
            #expect(isOurs)
        }
        for app in rig.engine.apps.apps.indices {
            for device in ["d", "e"] {
                let place = AppOnDevice(app: AppID(app), device: Array(device.utf8))
                writer.removeAll()
                guard rig.engine.writeFact(place, to: &writer) else { continue }
                let (key, value) = (rig.engine.factKey(place), writer.bytes)
                let isOurs = try copy.engine.restoreFact(key.span, value.span, isInSnapshot: true)
                #expect(isOurs)
            }
        }
        for slot in 0..<rig.engine.slotCount where slot != left {
            guard let record = rig.engine.record(at: slot) else { continue }
            writer.removeAll()
            writer.image(of: record, at: slot, in: rig.engine)
            let bytes = writer.bytes
            var frame = FrameBuilder()
            let cold = rig.engine.withBytes(of: record.cold) { [UInt8]($0) }
            let kind = rig.engine.apps.kinds[Int(record.kind)]
            let key = String(decoding: cold[record.keyRange], as: UTF8.self)
            let parts = Engine.RestoredParts(
                app: frame.run(String(decoding: rig.engine.apps[kind.app].name, as: UTF8.self)),
                kind: frame.run(String(decoding: kind.type, as: UTF8.self)), key: key.isEmpty ? nil : frame.run(key),
                device: frame.run(record.device.map { String(decoding: rig.engine.devices.name($0), as: UTF8.self) }),
                attributes: frame.run(String(decoding: cold[record.attributesRange], as: UTF8.self)),
                content: frame.run(rig.content(record.id) ?? ""))
            try copy.engine.restore(
                record.id, at: slot, seq: record.lastSeq, try ActivityImage(bytes.span), parts, of: frame.bytes.span)
        }
        copy.engine.finishSnapshot()
        try copy.engine.finishRestoring(isProven: isProven)
        return copy
    }

    /// What takes effect until a date; the copy's follower knows nothing of its past, so it is not asked.
    private func lines(of rig: EngineRig, until date: Instant) -> [String] {
        var lines: [String] = []
        var goesOn = true
        while goesOn {
            goesOn = rig.engine.fireDue(at: date, dating: .whenDue, limit: 100)
            lines += rig.engine.events.map(\.line)
            rig.engine.releaseEvents()
        }
        return lines
    }

    /// A bit of everything.
    private func life() -> EngineRig {
        let rig = EngineRig()
        rig.engine.isJournalled = true
        rig.start(
            attributes: "{\"a\":1}", content: "{\"n\":1}", stale: rig.now + hour, relevance: 7, style: .transient,
            pushType: "\"token\"", device: "d", key: "k")
        rig.start(on: rig.now + 2 * hour, alert: "{\"title\":\"soon\"}", device: "d")
        rig.start("com.b", stale: rig.now + -1, key: "k")
        _ = rig.renew(.key("k", device: "d"))
        let ended = rig.started(device: "e", key: "gone")
        rig.end(.id(ended))
        rig.set("com.b", device: "d", enabled: false)
        rig.report("e", .appBackground, app: "com.a")
        rig.pass(10)
        return rig
    }

    @Test("everything comes back: machines, payloads, names, links, counts, settings, timers")
    func everything() throws {
        let rig = life()
        let copy = try restored(rig)
        #expect(copy.engine.entityCount == rig.engine.entityCount)
        #expect(copy.engine.countByState == rig.engine.countByState)
        #expect(copy.engine.armedTimers == rig.engine.armedTimers)
        for slot in 0..<rig.engine.slotCount {
            guard let old = rig.engine.record(at: slot) else { continue }
            guard let new = copy.engine.record(at: slot) else {
                Issue.record("slot \(slot) is free")
                continue
            }
            #expect(new.id == old.id && new.machine == old.machine && new.revision == old.revision)
            #expect(copy.relevance(old.id) == rig.relevance(old.id) && new.ordinal == old.ordinal && new.lastSeq == old.lastSeq)
            #expect(copy.content(old.id) == rig.content(old.id))
            #expect(copy.renewal(old.id) == rig.renewal(old.id))
            let cold = [copy, rig].map { rig in rig.engine.withBytes(of: rig.record(old.id)!.cold) { [UInt8]($0) } }
            #expect(cold[0] == cold[1])
        }
        for app in ["com.a", "com.b"] {
            #expect(copy.app(app)?.seq == rig.app(app)?.seq && copy.app(app)?.digest == rig.app(app)?.digest)
            for device in ["d", "e"] { #expect(copy.settings(app, device: device) == rig.settings(app, device: device)) }
        }
        #expect(copy.get(.key("gone", device: "e")).reference == rig.get(.key("gone", device: "e")).reference)
        let later = rig.now + 100 * hour
        #expect(lines(of: copy, until: later) == lines(of: rig, until: later))
    }

    @Test("an activity that is missing contradicts what its stream ended with")
    func missing() {
        #expect(throws: ImageError.self) { try restored(life(), skipping: 1) }
    }

    @Test("where commits may have been lost, nothing is compared")
    func notProven() throws {
        let copy = try restored(life(), isProven: false, skipping: 0)
        #expect(copy.engine.record(at: 0) == nil)
    }

    @Test("where commits may have been lost, the next snapshot says of every stream where it is")
    func notProvenIsWritten() throws {
        let copy = try restored(life(), isProven: false, skipping: 0)
        let names = copy.engine.takeChangedApps(8).map { String(decoding: copy.engine.apps[$0].name, as: UTF8.self) }
        #expect(Set(names) == ["com.a", "com.b"])
        #expect(try restored(life()).engine.changedApps.isEmpty)
    }

    @Test("a slot of the snapshot that is free is given to the next one")
    func freeSlots() throws {
        let copy = try restored(life(), isProven: false, skipping: 1)
        copy.start("com.c")
        #expect(copy.engine.record(at: 1)?.id == copy.latest)
    }

    @Test("an image that is cut anywhere, or has a byte too much, is refused")
    func cut() throws {
        let rig = life()
        var writer = ImageWriter()
        guard let record = rig.engine.record(at: 1) else { preconditionFailure("a rig with two activities") }
        writer.image(of: record, at: 1, in: rig.engine)
        let bytes = writer.bytes
        _ = try ActivityImage(bytes.span)
        for count in bytes.indices {
            #expect(throws: ImageError.self) { try ActivityImage(bytes.span.extracting(..<count)) }
        }
        let longer = bytes + [0]
        #expect(throws: ImageError.tooLong) { try ActivityImage(longer.span) }
        var later = bytes
        later[0] = 3
        #expect(throws: ImageError.unknownVersion(3)) { try ActivityImage(later.span) }
    }

    @Test("an image of the releases that kept no date of the state is the same without it")
    func former() throws {
        let rig = life()
        var writer = ImageWriter()
        guard let record = rig.engine.record(at: 1) else { preconditionFailure("a rig with two activities") }
        writer.image(of: record, at: 1, in: rig.engine)
        var image = try ActivityImage(writer.bytes.span)
        #expect(image.stateAt.isSet)
        // Behind the numbers that come first, and before what has no fixed length.
        var bytes = writer.bytes
        bytes.removeSubrange(75..<83)
        bytes[0] = 1
        image.stateAt = .never
        #expect(try ActivityImage(bytes.span) == image)
    }

    @Test("all apps of a device in one fact, as releases have written them, are taken back app by app")
    func formerDevice() throws {
        var former = ImageWriter()
        former.write(byte: 2)
        former.write(UInt32(1))
        former.write(run: Array("com.a".utf8))
        for flag in [true, false] { former.write(flag) }
        former.write(UInt64(0))
        former.write(false)
        former.write(UInt32(2))
        for app in ["com.a", "com.b"] { former.write(run: Array(app.utf8)) }
        former.write(UInt32(1))
        former.write(run: Array("com.c".utf8))
        former.write(UInt64(7))
        former.write(true)

        var engine = Engine(rules: .standard, start: Instant(0))
        let device = Array("d".utf8)
        let (key, value) = (engine.factKey(formerDevice: device), former.bytes)
        let isOurs = try engine.restoreFact(key.span, value.span, isInSnapshot: true)
        #expect(isOurs && engine.formerDevices == [device])
        var facts: [[UInt8]: [UInt8]] = [:]
        for place in engine.changedAppsOnDevices {
            var writer = ImageWriter()
            let isKnown = engine.writeFact(place, to: &writer)
            #expect(isKnown)
            facts[engine.factKey(place)] = writer.bytes
        }
        #expect(facts.count == 3)

        // What a snapshot has that got only some of them before the process ended.
        var again = Engine(rules: .standard, start: Instant(0))
        _ = try again.restoreFact(key.span, value.span, isInSnapshot: true)
        for (key, value) in facts { _ = try again.restoreFact(key.span, value.span, isInSnapshot: true) }
        for place in again.changedAppsOnDevices {
            var writer = ImageWriter()
            let isKnown = again.writeFact(place, to: &writer)
            #expect(isKnown && facts[again.factKey(place)] == writer.bytes)
        }
        let isForgotten = again.forgetFact(key.span)
        #expect(isForgotten)
        for place in again.changedAppsOnDevices {
            var writer = ImageWriter()
            let isKnown = again.writeFact(place, to: &writer)
            #expect(!isKnown)
        }
    }

    @Test("facts that are no facts are refused, and keys of others left to them")
    func foreignFacts() throws {
        var engine = Engine(rules: .standard, start: Instant(0))
        let other = Array("zX".utf8)
        let value: [UInt8] = [1, 2]
        let isOurs = try engine.restoreFact(other.span, value.span, isInSnapshot: true)
        #expect(!isOurs)
        let app = Array("acom.a".utf8)
        do {
            _ = try engine.restoreFact(app.span, value.span, isInSnapshot: true)
            Issue.record("a fact that is cut was taken")
        } catch {
            #expect(error == .truncated)
        }
    }
}
