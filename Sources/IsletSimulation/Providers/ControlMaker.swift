import IsletOracle

/// Draws commands about controls.
struct ControlMaker {
    var random: SimRandom
    let mix: Mix
    let app: String

    mutating func make(ids: [String]) -> (deed: ControlDeed, fields: [String]) {
        // Without any, and with few, another one is placed.
        let choice = ids.isEmpty ? 0 : random.weighted([ids.count < 8 ? 16 : 5, 5, 3, 30, 12, 10, 8, 8, 2, 3, 2, 2])
        switch choice {
        case 0: return add()
        case 1: return one("control.configure", ids, ["\"configuration\":{\"room\":\"r\(random.below(3))\"}"])
        case 2: return one("control.remove", ids)
        case 3: return one("control.tap", ids)
        case 4:
            var (deed, fields) = one("control.set", ids)
            let isOn = random.oneIn(2)
            deed.isOn = isOn
            fields.append("\"value\":\(isOn)")
            return (deed, fields)
        case 5: return reload(ids)
        case 6: return one("control.get", ids)
        case 7: return one("control.get", ids, ["\"maxAge\":\(random.below(5_000))"])
        case 8: return (ControlDeed("control.list"), ["\"limit\":1000"])
        case 9: return one(random.oneIn(2) ? "control.history" : "control.explain", ids)
        case 10: return (ControlDeed("control.kinds"), [])
        default:
            var deed = ControlDeed("control.options")
            deed.kind = "Torch"
            return (deed, ["\"kind\":\"Torch\"", "\"parameter\":\"room\""])
        }
    }

    private mutating func add() -> (ControlDeed, [String]) {
        var deed = ControlDeed("control.add")
        let kind = WitnessedKind.all[random.below(WitnessedKind.all.count)]
        deed.kind = kind.name
        var fields = ["\"kind\":\"\(kind.name)\""]
        if random.oneIn(2) { fields.append("\"configuration\":{\"room\":\"r\(random.below(3))\"}") }
        if mix.devices > 0, !random.oneIn(3) { fields.append("\"device\":\"d\(random.below(mix.devices))\"") }
        if random.oneIn(4) {
            let id = "bbbbbbbb-0000-4000-8000-0000000000\(10 + random.below(20))"
            deed.id = id
            fields.append("\"id\":\"\(id)\"")
        }
        return (deed, fields)
    }

    mutating func reload(_ ids: [String]) -> (ControlDeed, [String]) {
        let push = random.oneIn(3) ? ["\"source\":\"push\""] : []
        switch random.below(4) {
        case 0: return (ControlDeed("control.reload"), push)
        case 1:
            var deed = ControlDeed("control.reload")
            let kind = WitnessedKind.all[random.below(WitnessedKind.all.count)].name
            deed.kind = kind
            return (deed, push + ["\"kind\":\"\(kind)\""])
        default: return one("control.reload", ids, push)
        }
    }

    private mutating func one(_ op: String, _ ids: [String], _ more: [String] = []) -> (ControlDeed, [String]) {
        var deed = ControlDeed(op)
        let id = random.pick(Array(ids.suffix(12))) ?? "bbbbbbbb-0000-4000-8000-000000000099"
        deed.id = id
        return (deed, ["\"id\":\"\(id)\""] + more)
    }
}
