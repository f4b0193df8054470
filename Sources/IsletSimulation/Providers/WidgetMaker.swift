import IsletOracle

/// Draws commands about widgets.
struct WidgetMaker {
    var random: SimRandom
    let mix: Mix
    let app: String
    /// A number that no other command has.
    let number: Int

    mutating func make(ids: [String]) -> (deed: ControlDeed, fields: [String]) {
        // Without any, and with few, another one is placed.
        let weights = [ids.count < 6 ? 14 : 4, 4, 2, 26, 8, 5, 10, 8, 8, 12, 2, 2, 2, 2, 2, 2]
        let choice = ids.isEmpty ? 0 : random.weighted(weights)
        switch choice {
        case 0: return add()
        case 1:
            let rendering = "\"rendering\":{\"mode\":\"\(random.oneIn(2) ? "fullColor" : "vibrant")\"}"
            let configuration = "\"configuration\":{\"room\":\"r\(random.below(3))\"}"
            return one("widget.configure", ids, random.oneIn(3) ? [rendering] : [configuration])
        case 2: return one("widget.remove", ids)
        case 3: return reload(ids)
        case 4: return one("widget.visible", ids)
        case 5: return one("widget.tap", ids, random.oneIn(2) ? ["\"link\":\"more\""] : [])
        case 6:
            let parameters = random.oneIn(4) ? [] : ["\"parameters\":{\"n\":\(number)}"]
            return one("widget.tap", ids, ["\"action\":\"a\(number)\""] + parameters)
        case 7: return one("widget.get", ids)
        case 8: return one("widget.timeline", ids)
        case 9: return one("widget.budget", ids)
        case 10: return (ControlDeed("widget.list"), ["\"limit\":1000"])
        case 11: return one(random.oneIn(2) ? "widget.history" : "widget.explain", ids)
        case 12: return (ControlDeed("widget.kinds"), [])
        case 13:
            var deed = ControlDeed("widget.invalidateRelevance")
            deed.kind = "Weather"
            return (deed, ["\"kind\":\"Weather\""])
        case 14:
            var deed = ControlDeed("widget.stack")
            let device = "d\(random.below(max(1, mix.devices)))"
            deed.device = device
            return (deed, ["\"device\":\"\(device)\""])
        default:
            var deed = ControlDeed("widget.snapshot")
            deed.kind = "Weather"
            return (deed, ["\"kind\":\"Weather\"", "\"family\":\"systemSmall\""])
        }
    }

    private mutating func add() -> (ControlDeed, [String]) {
        var deed = ControlDeed("widget.add")
        let kind = WitnessedWidgetKind.all[random.below(WitnessedWidgetKind.all.count)]
        deed.kind = kind.name
        let family = random.pick(kind.families) ?? ""
        var fields = ["\"kind\":\"\(kind.name)\"", "\"family\":\"\(family)\""]
        if random.oneIn(2) { fields.append("\"configuration\":{\"room\":\"r\(random.below(3))\"}") }
        if mix.devices > 0, !random.oneIn(4) { fields.append("\"device\":\"d\(random.below(mix.devices))\"") }
        if random.oneIn(4) {
            let id = "ffffffff-0000-4000-8000-0000000000\(10 + random.below(12))"
            deed.id = id
            fields.append("\"id\":\"\(id)\"")
        }
        return (deed, fields)
    }

    private mutating func reload(_ ids: [String]) -> (ControlDeed, [String]) {
        let push = random.oneIn(3) ? ["\"source\":\"push\""] : []
        switch random.below(5) {
        case 0: return (ControlDeed("widget.reload"), push)
        case 1:
            var deed = ControlDeed("widget.reload")
            let kind = WitnessedWidgetKind.all[random.below(WitnessedWidgetKind.all.count)].name
            deed.kind = kind
            return (deed, push + ["\"kind\":\"\(kind)\""])
        default: return one("widget.reload", ids, push)
        }
    }

    private mutating func one(_ op: String, _ ids: [String], _ more: [String] = []) -> (ControlDeed, [String]) {
        var deed = ControlDeed(op)
        let id = random.pick(Array(ids.suffix(10))) ?? "ffffffff-0000-4000-8000-000000000099"
        deed.id = id
        return (deed, ["\"id\":\"\(id)\""] + more)
    }
}
