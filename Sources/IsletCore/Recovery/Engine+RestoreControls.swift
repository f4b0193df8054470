/// The way back of controls: from a snapshot's rows, from the images of events, and what follows from them.
///
/// The events of one app come in their order, those of two apps in none, and an id may change hands within a batch. So
/// until all of them are back, a control is known by its app and its id, and each app's come and go as its stream says.
extension Engine {
    /// A control of the snapshot, in its slot.
    package mutating func restoreControl(
        _ id: EntityID, at slot: Slot, seq: UInt64, _ image: ControlImage, app: [UInt8], kind: [UInt8]
    ) throws(ImageError) {
        guard slot < Engine.maximumSlot else { throw .contradiction("a control in slot \(slot)") }
        guard image.machine.state != .removed else { throw .contradiction("a removed control in slot \(slot)") }
        guard !controls.slab.isUsed(slot) else { throw .contradiction("two controls in slot \(slot)") }
        let app = try self.app(named: app)
        if let other = controls.slot(of: id, app: app) {
            // The app used the id again, and the slot of its first life was not written since.
            guard controls.slab[other].lastSeq < seq else { return controls.changedSlots.insert(slot) }
            forgetRestored(control: other)
        }
        let record = try makeControl(id, seq: seq, image, app: app, kind: kind)
        controls.slab.restore(record, at: slot)
        controls.byID.insert(id.keyedHash, slot)
        if !image.keepsPreview { controls.withoutPreview.insert(slot) }
    }

    /// An event of a control; one that the snapshot holds changes nothing.
    package mutating func restoreControl(
        _ id: EntityID, seq: UInt64, _ image: ControlImage, app: [UInt8], kind: [UInt8]
    ) throws(ImageError) {
        let app = try self.app(named: app)
        if let slot = controls.slot(of: id, app: app) {
            guard controls.slab[slot].lastSeq < seq else { return }
            forgetRestored(control: slot)
        }
        guard image.machine.state != .removed else { return }
        let slot = controls.slab.insert(try makeControl(id, seq: seq, image, app: app, kind: kind))
        controls.byID.insert(id.keyedHash, slot)
        controls.changedSlots.insert(slot)
        if !image.keepsPreview { controls.withoutPreview.insert(slot) }
    }

    private mutating func makeControl(
        _ id: EntityID, seq: UInt64, _ image: ControlImage, app: AppID, kind kindName: [UInt8]
    ) throws(ImageError) -> ControlRecord {
        guard let kind = controls.kinds.kind(app, named: apps[app].name, kindName) else {
            throw .contradiction("more kinds than there may be")
        }
        var device: DeviceID?
        if !image.device.isEmpty {
            guard let known = devices.device(FrameRange(0..<image.device.count), of: image.device.span) else {
                throw .contradiction("more devices than there may be")
            }
            device = known
        }
        var record = ControlRecord(id: id, kind: kind, device: device, addedAt: image.addedAt, machine: image.machine)
        record.revision = image.revision
        record.lastSeq = seq
        record.configuration = store(image.configuration)
        record.value = store(image.value)
        record.texts = store(image.texts)
        record.textCounts = image.textCounts
        record.failureReason = store(image.failureReason)
        record.isActive = image.isActive
        record.actionGivenUpAt = image.actionGivenUpAt
        record.dates = image.dates
        return record
    }

    private mutating func store(_ bytes: [UInt8]) -> PayloadHandle {
        payloads.insert(bytes: bytes)
    }

    private mutating func forgetRestored(control slot: Slot) {
        let record = controls.slab[slot]
        controls.byID.remove(record.id.keyedHash, slot)
        for handle in record.payloads { payloads.remove(handle) }
        controls.slab.remove(slot)
        controls.withoutPreview.remove(slot)
        controls.changedSlots.insert(slot)
    }

    /// An id belongs to one app at a time, so each app's stream must have ended the life of one that another app has.
    ///
    /// Where commits may have been lost, that may be one of them: the one that was placed last stays.
    ///
    /// - Throws: `contradiction` for an id that two apps have.
    private mutating func settleOwnersOfControls(isProven: Bool) throws(ImageError) {
        for slot in 0..<controls.slab.capacity {
            guard let record = controls.record(at: slot), let other = controls.slot(of: record.id), other != slot else {
                continue
            }
            let apps = (controls.kinds.app(of: record.kind), controls.kinds.app(of: controls.slab[other].kind))
            guard !isProven else { throw .contradiction(twoOwners("control", record.id, apps)) }
            let isOlder = (record.addedAt, slot) < (controls.slab[other].addedAt, other)
            forgetRestored(control: isOlder ? slot : other)
        }
    }

    /// What is wrong with an id that two apps have.
    func twoOwners(_ family: String, _ id: EntityID, _ apps: (AppID, AppID)) -> String {
        let names = [apps.0, apps.1].map { String(decoding: self.apps[$0].name, as: UTF8.self) }.sorted()
        return "the \(family) \(id) is in \(names[0]) and in \(names[1])"
    }

    /// Everything was taken back: counts, digests, lists. Before the streams are proven.
    mutating func indexRestoredControls(isProven: Bool) throws(ImageError) {
        try settleOwnersOfControls(isProven: isProven)
        var placed: [Slot] = []
        for slot in 0..<controls.slab.capacity {
            guard let record = controls.record(at: slot) else { continue }
            let kind = controls.kinds[record.kind]
            apps[kind.app].seq = max(apps[kind.app].seq, record.lastSeq)
            apps[kind.app].digest.toggle(
                topicHash: kind.topicHash.appending(record.id), revision: UInt64(record.revision))
            apps[kind.app].entities += 1
            entityCount += 1
            controls.kinds[record.kind].placed += 1
            controls.countByState[Int(record.machine.state.rawValue)] += 1
            if record.device != nil { placed.append(slot) }
        }
        placed.sort { controls.slab[$0].placing < controls.slab[$1].placing }
        for slot in placed {
            guard let device = controls.slab[slot].device else { continue }
            controls.onDevice[device, default: []].append(slot)
            devices[device].references += 1
        }
    }

    /// The timers of controls, on a wheel that begins at the earliest.
    mutating func armRestoredControls() {
        var earliest = Instant.never
        for slot in 0..<controls.slab.capacity {
            guard let record = controls.record(at: slot) else { continue }
            earliest = min(earliest, record.machine.next.at)
        }
        if earliest.isSet { controls.wheel = TimerWheel(start: earliest) }
        for slot in 0..<controls.slab.capacity where controls.slab.isUsed(slot) { arm(control: slot) }
    }

    /// The service begins again: no call of the process before is on its way any more. Once everything is taken back.
    package mutating func restartControls(at now: Instant) {
        keepFormerPreviews()
        for slot in 0..<controls.slab.capacity {
            guard controls.slab.isUsed(slot) else { continue }
            // The process before may have ended while it went through a kind that became sensitive.
            redactAsDeclared(control: slot, .recovery, at: now)
            let record = controls.slab[slot]
            guard record.machine.hasCall else { continue }
            let steps = controls.slab[slot].machine.restarted()
            take(steps, ofControl: slot, before: record.machine, asker: .nobody, at: now)
            guard steps.isEmpty else { continue }
            append(.askValue, slot, false)
        }
        rememberInterruptedControls(at: now)
        resumeControlSweeps(at: now)
    }
}

extension Engine {
    /// Buttons that a former release placed, and whose value is not known, keep the preview that they show.
    private mutating func keepFormerPreviews() {
        // In order: the same state makes the same snapshot.
        for slot in controls.withoutPreview.sorted() {
            guard let record = controls.record(at: slot), !record.machine.isValueKnown,
                let declaration = controls.kinds[record.kind].declaration
            else { continue }
            controls.slab[slot].value = storePreview(of: declaration)
            controls.changedSlots.insert(slot)
        }
        controls.withoutPreview = []
    }
}

/// Kinds and locks as facts.
extension Engine {
    static let controlKindTag = UInt8(ascii: "k")
    static let lockTag = UInt8(ascii: "l")

    /// The key of a kind's fact: app and kind with a slash between them, which neither may hold.
    package func factKey(controlKind kind: ControlKindID) -> [UInt8] {
        let record = controls.kinds[kind]
        return [Engine.controlKindTag] + apps[record.app].name + [UInt8(ascii: "/")] + record.name
    }

    /// What is stored of a control kind.
    package struct ControlKindFact: Equatable, Sendable {
        package var app: [UInt8]
        /// The exact bytes of the declaration, which the protocol reads; empty: it was never declared.
        package var declaration: [UInt8]
        /// In the second layout, which had reloads on their way in here: the cause of one, or nil in it where there is none.
        var unswept: ControlCause??

        /// The layout. It is the first one again, since a reload on its way is a fact of its own.
        static let version: UInt8 = 1
        /// The layout that releases have written which kept reloads on their way here.
        static let versionWithReload: UInt8 = 2

        package init(app: [UInt8], declaration: [UInt8]) {
            self.app = app
            self.declaration = declaration
        }
    }

    /// A kind's declaration, byte for byte.
    package func writeFact(controlKind kind: ControlKindID, to writer: inout ImageWriter) {
        writer.write(byte: ControlKindFact.version)
        writer.write(run: controls.kinds[kind].declaration?.json ?? [])
    }

    /// The key of the fact that a device is locked.
    package func factKey(lock name: [UInt8]) -> [UInt8] { [Engine.lockTag] + name }

    /// Whether a device is locked; false where there is nothing to tell.
    package func writeFact(lock name: [UInt8], to writer: inout ImageWriter) -> Bool {
        guard controls.lockedDevices.contains(name) else { return false }
        writer.write(byte: ControlImage.version)
        return true
    }

    /// A kind's fact; nil for the key of another.
    package static func controlKindFact(
        _ key: Span<UInt8>, _ value: Span<UInt8>
    ) throws(ImageError) -> ControlKindFact? {
        guard key.count > 1, key[0] == controlKindTag else { return nil }
        let slash = (1..<key.count).first { key[$0] == UInt8(ascii: "/") }
        guard let slash else { throw .unknownValue }
        let app = key.bytes(FrameRange(1..<slash))
        return try ImageReader.read(value) { reader throws(ImageError) in
            let version = try reader.byte()
            guard version == ControlKindFact.version || version == ControlKindFact.versionWithReload else {
                throw ImageError.unknownVersion(version)
            }
            var fact = ControlKindFact(app: app, declaration: try reader.bytesOfRun())
            guard version == ControlKindFact.versionWithReload else { return fact }
            fact.unswept = .some(try reader.flag() ? try reader.value(ControlCause.self) : nil)
            return fact
        }
    }

    /// Takes a declaration back.
    package mutating func restoreControlKind(
        _ declaration: ControlKindDeclaration, _ fact: ControlKindFact, isInSnapshot: Bool
    ) throws(ImageError) {
        guard let app = apps.app(FrameRange(0..<fact.app.count), of: fact.app.span),
            let kind = controls.kinds.kind(app, named: fact.app, declaration.kind)
        else { throw .contradiction("more apps or kinds than there may be") }
        controls.kinds.declare(kind, declaration)
        if !isInSnapshot { kindChanged(kind) }
        guard let unswept = fact.unswept else { return }
        let kinds = SweptKinds(app: app, kind: kind)
        controls.unswept[kinds] = unswept
        guard unswept != nil else { return }
        // The snapshot gets both in the layout of today, so that no later start reads this one once more.
        kindChanged(kind)
        controls.changedReloads.insert(kinds)
    }

    /// Takes a lock back, or that there is none any more; false where the key is not one.
    package mutating func restoreLock(_ key: Span<UInt8>, isLocked: Bool, isInSnapshot: Bool) -> Bool {
        guard key.count > 1, key[0] == Engine.lockTag else { return false }
        let name = key.bytes(FrameRange(1..<key.count))
        controls.lockedDevices.set(isLocked ? () : nil, of: name, isWritten: isInSnapshot)
        return true
    }
}
