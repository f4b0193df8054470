import IsletCore

/// Reads for who runs the service.
extension CommandDecoder {
    func timerList(_ frame: Span<UInt8>) throws(Refusal) -> InspectionOperation {
        var list = TimerList()
        list.app = try text(.app, .app, frame)
        list.device = try text(.device, .name, frame)
        list.family = try word(
            .family, frame, ["activity": .activity, "control": .control, "widget": .widget])
        list.limit = try integer(.limit, in: 1...1_000, frame) ?? list.limit
        return .timers(list)
    }

    func slotList(_ frame: Span<UInt8>) throws(Refusal) -> InspectionOperation {
        var list = SlotList()
        list.app = try text(.app, .app, frame)
        list.device = try text(.device, .name, frame)
        list.limit = try integer(.limit, in: 1...1_000, frame) ?? list.limit
        list.cursor = try text(.cursor, .cursor, frame)
        return .slots(list)
    }

    func subscriberList(_ frame: Span<UInt8>) throws(Refusal) -> InspectionOperation {
        var list = SubscriberList()
        list.app = try text(.app, .app, frame)
        list.limit = try integer(.limit, in: 1...1_000, frame) ?? list.limit
        return .subscribers(list)
    }

    func problemList(_ frame: Span<UInt8>) throws(Refusal) -> InspectionOperation {
        var list = ProblemList()
        list.app = try text(.app, .app, frame)
        list.family = try word(
            .family, frame,
            [
                "activity": .activity, "control": .control, "widget": .widget, "kind": .kind, "group": .group,
                "provider": .provider, "subscriber": .subscriber, "journal": .journal, "clock": .clock,
            ])
        list.limit = try integer(.limit, in: 1...1_000, frame) ?? list.limit
        return .problems(list)
    }

    func entityFind(_ frame: Span<UInt8>) throws(Refusal) -> InspectionOperation {
        var find = EntityFind(name: try requiredText(.name, .entityName, frame))
        find.family = try word(
            .family, frame, ["activity": .activity, "control": .control, "widget": .widget])
        find.app = try text(.app, .app, frame)
        find.device = try text(.device, .name, frame)
        find.limit = try integer(.limit, in: 1...100, frame) ?? find.limit
        return .find(find)
    }

    func kindList(_ frame: Span<UInt8>) throws(Refusal) -> KindList {
        var list = KindList(app: try requiredText(.app, .app, frame))
        list.limit = try integer(.limit, in: 1...1_000, frame)
        list.cursor = try text(.cursor, .cursor, frame)
        return list
    }

    func providerList(_ frame: Span<UInt8>) throws(Refusal) -> ProviderList {
        var list = ProviderList()
        list.limit = try integer(.limit, in: 1...1_000, frame)
        if let cursor = try text(.cursor, .cursor, frame) {
            guard let id = EntityID(text: frame, at: cursor) else { throw .badField(.cursor, .badCursor) }
            list.cursor = id
        }
        return list
    }
}
