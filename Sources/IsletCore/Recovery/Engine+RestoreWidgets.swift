/// The way back of widgets: from a snapshot's rows, from the images of events, and what follows from them. As controls,
/// they are known by their app and their id until all are back.
extension Engine {
    /// A widget of the snapshot, in its slot.
    package mutating func restoreWidget(
        _ id: EntityID, at slot: Slot, seq: UInt64, _ image: WidgetImage, app: [UInt8], kind: [UInt8]
    ) throws(ImageError) {
        guard slot < Engine.maximumSlot else { throw .contradiction("a widget in slot \(slot)") }
        guard image.machine.state != .removed else { throw .contradiction("a removed widget in slot \(slot)") }
        guard !widgets.slab.isUsed(slot) else { throw .contradiction("two widgets in slot \(slot)") }
        guard let whole = image.whole else { throw .contradiction("a part of a widget in slot \(slot)") }
        let app = try self.app(named: app)
        if let other = widgets.slot(of: id, app: app) {
            // The app used the id again, and the slot of its first life was not written since.
            guard widgets.slab[other].lastSeq < seq else { return widgets.changedSlots.insert(slot) }
            forgetRestored(widget: other)
        }
        let record = try makeWidget(id, seq: seq, image, whole, app: app, kind: kind)
        widgets.slab.restore(record, at: slot)
        widgets.byID.insert(id.keyedHash, slot)
    }

    /// An event of a widget. One that the snapshot holds, and a part of one that was removed since, change nothing.
    package mutating func restoreWidget(
        _ id: EntityID, seq: UInt64, _ image: WidgetImage, app: [UInt8], kind: [UInt8]
    ) throws(ImageError) {
        let app = try self.app(named: app)
        let known = widgets.slot(of: id, app: app)
        if let known {
            guard widgets.slab[known].lastSeq < seq else { return }
            guard image.machine.state != .removed else { return forgetRestored(widget: known) }
            guard image.isWhole else { return change(known, seq: seq, image) }
        }
        guard let whole = image.whole, image.machine.state != .removed else { return }
        let record = try makeWidget(id, seq: seq, image, whole, app: app, kind: kind)
        if let known { forgetRestored(widget: known) }
        let slot = widgets.slab.insert(record)
        widgets.byID.insert(id.keyedHash, slot)
        widgets.changedSlots.insert(slot)
    }

    /// An event that changed a part of it.
    private mutating func change(_ slot: Slot, seq: UInt64, _ image: WidgetImage) {
        // Only where commits were lost can it be of another life.
        guard widgets.slab[slot].addedAt == image.addedAt else { return }
        widgets.slab[slot].machine = image.machine
        widgets.slab[slot].revision = image.revision
        widgets.slab[slot].lastSeq = seq
        widgets.slab[slot].actionGivenUpAt = image.actionGivenUpAt
        widgets.slab[slot].dates = image.dates
        if image.machine.failure != .threw {
            _ = setFailureReason([], ofWidget: slot)
        } else if let reason = image.failureReason {
            _ = setFailureReason(reason, ofWidget: slot)
        }
        if let timeline = image.timeline {
            replace(\.timeline, of: slot, by: timeline.blob)
            replace(\.carried, of: slot, by: timeline.carried)
        } else if image.machine.entryIndex != nil {
            dropCarried(of: slot)
        }
        if let ledger = image.ledger {
            payloads.replace(&widgets.slab[slot].ledger, by: FrameRange(0..<ledger.count), of: ledger.span)
        }
        widgets.changedSlots.insert(slot)
    }

    private mutating func makeWidget(
        _ id: EntityID, seq: UInt64, _ image: WidgetImage, _ whole: WidgetImage.Whole, app: AppID,
        kind kindName: [UInt8]
    ) throws(ImageError) -> WidgetRecord {
        guard let kind = widgets.kinds.kind(app, named: apps[app].name, kindName) else {
            throw .contradiction("more kinds than there may be")
        }
        var device: DeviceID?
        if !whole.device.isEmpty {
            guard let known = devices.device(FrameRange(0..<whole.device.count), of: whole.device.span) else {
                throw .contradiction("more devices than there may be")
            }
            device = known
        }
        var record = WidgetRecord(
            id: id, kind: kind, family: whole.family, device: device, addedAt: image.addedAt,
            ordinal: image.ordinal, machine: image.machine)
        record.revision = image.revision
        record.lastSeq = seq
        record.configuration = stored(whole.configuration)
        record.rendering = stored(whole.rendering)
        record.failureReason = stored(image.failureReason ?? [])
        record.timeline = stored(image.timeline?.blob ?? [])
        record.carried = stored(image.timeline?.carried ?? [])
        record.ledger = stored(image.ledger ?? [])
        record.actionGivenUpAt = image.actionGivenUpAt
        record.dates = image.dates
        return record
    }

    private mutating func stored(_ bytes: [UInt8]) -> PayloadHandle {
        payloads.insert(bytes: bytes)
    }

    private mutating func forgetRestored(widget slot: Slot) {
        let record = widgets.slab[slot]
        widgets.byID.remove(record.id.keyedHash, slot)
        for handle in record.payloads { payloads.remove(handle) }
        widgets.slab.remove(slot)
        widgets.changedSlots.insert(slot)
    }

    /// As ``settleOwnersOfControls(isProven:)``.
    private mutating func settleOwnersOfWidgets(isProven: Bool) throws(ImageError) {
        for slot in 0..<widgets.slab.capacity {
            guard let record = widgets.record(at: slot), let other = widgets.slot(of: record.id), other != slot else {
                continue
            }
            let apps = (widgets.kinds.app(of: record.kind), widgets.kinds.app(of: widgets.slab[other].kind))
            guard !isProven else { throw .contradiction(twoOwners("widget", record.id, apps)) }
            // Those of one id: its lives are told apart by when they began.
            let isOlder = record.placing < widgets.slab[other].placing
            forgetRestored(widget: isOlder ? slot : other)
        }
    }

    /// Everything was taken back: counts, digests, lists. Before the streams are proven.
    mutating func indexRestoredWidgets(isProven: Bool) throws(ImageError) {
        try settleOwnersOfWidgets(isProven: isProven)
        var placed: [Slot] = []
        for slot in 0..<widgets.slab.capacity {
            guard let record = widgets.record(at: slot) else { continue }
            let entries = timeline(of: record).count
            guard entries == Int(record.machine.entryCount) else {
                guard !isProven else { throw .contradiction("\(record.id) has another timeline than it shows") }
                forgetRestored(widget: slot)
                continue
            }
            let kind = widgets.kinds[record.kind]
            startOrdinal = max(startOrdinal, record.ordinal)
            apps[kind.app].seq = max(apps[kind.app].seq, record.lastSeq)
            apps[kind.app].digest.toggle(
                topicHash: kind.topicHash.appending(record.id), revision: UInt64(record.revision))
            apps[kind.app].entities += 1
            entityCount += 1
            widgets.kinds[record.kind].placed += 1
            widgets.placedFamilies.add(record.family, of: record.kind)
            widgets.countByState[Int(record.machine.state.rawValue)] += 1
            if record.device != nil { placed.append(slot) }
        }
        // A device's list is built by appending, as it was.
        placed.sort { one, other in
            widgets.slab[one].placing < widgets.slab[other].placing
        }
        for slot in placed {
            guard let device = widgets.slab[slot].device else { continue }
            if widgets.slab[slot].machine.isOnTop { widgets.top[device] = slot }
            widgets.onDevice[device, default: []].append(slot)
            devices[device].references += 1
        }
    }

    /// The timers of widgets, on a wheel that begins at the earliest.
    mutating func armRestoredWidgets() {
        var earliest = Instant.never
        for slot in 0..<widgets.slab.capacity {
            guard let record = widgets.record(at: slot) else { continue }
            earliest = min(earliest, record.deadline)
        }
        if earliest.isSet { widgets.wheel = TimerWheel(start: earliest) }
        for slot in 0..<widgets.slab.capacity where widgets.slab.isUsed(slot) { arm(widget: slot) }
    }

    /// The service begins again: no call of the process before is on its way any more, and what is relevant may have
    /// changed. Once everything is taken back.
    package mutating func restartWidgets(at now: Instant) {
        for slot in 0..<widgets.slab.capacity {
            guard let record = widgets.record(at: slot), record.machine.hasCall else { continue }
            let steps = widgets.slab[slot].machine.restarted(at: now)
            take(steps, ofWidget: slot, before: record.machine, asker: .nobody, at: now)
            if steps.isEmpty { append(.askTimeline, widget: slot, false) }
        }
        rememberInterruptedWidgets(at: now)
        for device in widgets.onDevice.keys.sorted() { restack(device, at: now) }
        reviewHolds(at: now)
        resumeWidgetSweeps(at: now)
    }

    /// The rules may be others than those by which reloads were held. Those that are due take effect by themselves.
    private mutating func reviewHolds(at now: Instant) {
        for slot in 0..<widgets.slab.capacity {
            guard let record = widgets.record(at: slot), let hold = record.machine.hold, hold.until > now
            else { continue }
            let steps = widgets.slab[slot].machine.heldAnew(admission(of: slot, .held, at: now), at: now)
            take(steps, ofWidget: slot, before: record.machine, asker: .nobody, at: now)
        }
    }
}

/// Kinds and conditions as facts.
extension Engine {
    static let widgetKindTag = UInt8(ascii: "w")
    static let conditionsTag = UInt8(ascii: "c")

    /// What is stored of a widget kind beside its declaration.
    package struct WidgetKindFact: Equatable, Sendable {
        package var app: [UInt8]
        /// The exact bytes of the declaration, which the protocol reads; empty: it was never declared.
        package var declaration: [UInt8]
        package var recommendations: [UInt8]?
        /// Without the defaults, which the declaration has.
        var relevance: KindRelevance?
        /// In the second layout, which had reloads on their way in here: one of them, or nil in it where there is none.
        var unswept: UnsweptReload??

        /// The layout. It is the first one again, since a reload on its way is a fact of its own.
        static let version: UInt8 = 1
        /// The layout that releases have written which kept reloads on their way here.
        static let versionWithReload: UInt8 = 2
    }

    /// The key of a kind's fact: app and kind with a slash between them, which neither may hold.
    package func factKey(widgetKind kind: DeclaredKindID) -> [UInt8] {
        let record = widgets.kinds[kind]
        return [Engine.widgetKindTag] + apps[record.app].name + [UInt8(ascii: "/")] + record.name
    }

    /// A kind's declaration, relevance and recommendations.
    package func writeFact(widgetKind kind: DeclaredKindID, to writer: inout ImageWriter) {
        writer.write(byte: WidgetKindFact.version)
        writer.write(run: widgets.kinds[kind].declaration?.json ?? [])
        let recommendations = widgets.sayings.recommendations[kind]
        writer.write(recommendations != nil)
        if let recommendations { writer.write(run: recommendations) }
        let relevance = widgets.sayings.relevance[kind]
        writer.write(relevance != nil)
        guard let relevance else { return }
        writer.write(run: relevance.json)
        writer.write(UInt32(relevance.list.count))
        for item in relevance.list {
            writer.write(item.configuration != nil)
            if let configuration = item.configuration { writer.write(run: configuration) }
            writer.write(item.from ?? .never)
            writer.write(item.to ?? .never)
        }
    }

    /// A kind's fact; nil for the key of another.
    package static func widgetKindFact(
        _ key: Span<UInt8>, _ value: Span<UInt8>
    ) throws(ImageError) -> WidgetKindFact? {
        guard key.count > 1, key[0] == widgetKindTag else { return nil }
        let slash = (1..<key.count).first { key[$0] == UInt8(ascii: "/") }
        guard let slash else { throw .unknownValue }
        let app = key.bytes(FrameRange(1..<slash))
        return try ImageReader.read(value) { reader throws(ImageError) in try WidgetKindFact(app: app, &reader) }
    }

    /// Takes a kind back; the declaration was read from the fact's bytes.
    package mutating func restoreWidgetKind(
        _ declaration: WidgetKindDeclaration, _ fact: WidgetKindFact, isInSnapshot: Bool
    ) throws(ImageError) {
        guard let app = apps.app(FrameRange(0..<fact.app.count), of: fact.app.span),
            let kind = widgets.kinds.kind(app, named: fact.app, declaration.kind)
        else { throw .contradiction("more apps or kinds than there may be") }
        widgets.kinds.declare(kind, declaration)
        widgets.sayings.setRecommendations(fact.recommendations, of: kind)
        let defaults = ConfigurationForm.Defaults(declaration.parameters)
        widgets.sayings.setRelevance(fact.relevance?.fillingIn(defaults), of: kind)
        if !isInSnapshot { widgetKindChanged(kind) }
        guard let unswept = fact.unswept else { return }
        let kinds = SweptKinds(app: app, kind: kind)
        widgets.unswept[kinds] = unswept
        guard unswept != nil else { return }
        // The snapshot gets both in the layout of today, so that no later start reads this one once more.
        widgetKindChanged(kind)
        widgets.changedReloads.insert(kinds)
    }

    /// The key of the fact of a device's conditions.
    package func factKey(conditions name: [UInt8]) -> [UInt8] { [Engine.conditionsTag] + name }

    /// What decides on a device whether reloads are charged; false where there is nothing to tell.
    package func writeFact(conditions name: [UInt8], to writer: inout ImageWriter) -> Bool {
        guard let conditions = widgets.conditions[name] else { return false }
        writer.write(byte: ConditionsFact.version)
        writer.write(conditions.isInStandBy)
        writer.write(conditions.isInDeveloperMode)
        for apps in [conditions.foregroundApps, conditions.sessionApps] {
            writer.write(UInt32(apps.count))
            // In the order of their numbers: the same state gives the same bytes.
            for app in apps.sorted() { writer.write(run: self.apps[app].name) }
        }
        return true
    }

    /// Takes a device's conditions back.
    mutating func restore(
        conditions name: [UInt8], _ value: Span<UInt8>, isInSnapshot: Bool
    ) throws(ImageError) {
        let fact = try ImageReader.read(value) { reader throws(ImageError) in try ConditionsFact(&reader) }
        var conditions = DeviceConditions()
        conditions.isInStandBy = fact.isInStandBy
        conditions.isInDeveloperMode = fact.isInDeveloperMode
        for name in fact.foregroundApps { conditions.foregroundApps.insert(try app(named: name)) }
        for name in fact.sessionApps { conditions.sessionApps.insert(try app(named: name)) }
        widgets.conditions.set(conditions, of: name, isWritten: isInSnapshot)
    }

    mutating func app(named name: [UInt8]) throws(ImageError) -> AppID {
        guard let app = apps.app(FrameRange(0..<name.count), of: name.span) else {
            throw .contradiction("more apps than there may be")
        }
        return app
    }
}

extension Engine.WidgetKindFact {
    fileprivate init(app: [UInt8], _ reader: inout ImageReader) throws(ImageError) {
        let version = try reader.byte()
        guard version == Self.version || version == Self.versionWithReload else { throw .unknownVersion(version) }
        self.app = app
        declaration = try reader.bytesOfRun()
        if version == Self.versionWithReload {
            unswept = .some(try reader.flag() ? try UnsweptReload(&reader) : nil)
        }
        if try reader.flag() { recommendations = try reader.bytesOfRun() }
        guard try reader.flag() else { return }
        let json = try reader.bytesOfRun()
        var list: [WidgetRelevance] = []
        for _ in 0..<(try reader.integer(UInt32.self)) {
            var item = WidgetRelevance()
            if try reader.flag() { item.configuration = try reader.bytesOfRun() }
            let (from, to) = (try reader.instant(), try reader.instant())
            guard from.isPlausible, to.isPlausible else { throw .contradiction("a date in no century") }
            item.from = from.isSet ? from : nil
            item.to = to.isSet ? to : nil
            list.append(item)
        }
        relevance = KindRelevance(list: list, json: json, defaults: ConfigurationForm.Defaults())
    }
}

/// What is stored of a device's conditions.
private struct ConditionsFact {
    /// The layout.
    static let version: UInt8 = 1

    var isInStandBy: Bool
    var isInDeveloperMode: Bool
    var foregroundApps: [[UInt8]] = []
    var sessionApps: [[UInt8]] = []

    init(_ reader: inout ImageReader) throws(ImageError) {
        let version = try reader.byte()
        guard version == Self.version else { throw .unknownVersion(version) }
        isInStandBy = try reader.flag()
        isInDeveloperMode = try reader.flag()
        for _ in 0..<(try reader.integer(UInt32.self)) { foregroundApps.append(try reader.bytesOfRun()) }
        for _ in 0..<(try reader.integer(UInt32.self)) { sessionApps.append(try reader.bytesOfRun()) }
    }
}
