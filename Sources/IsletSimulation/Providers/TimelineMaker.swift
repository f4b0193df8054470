import IsletOracle

/// Draws timelines: most of them as they should be.
struct TimelineMaker {
    /// Milliseconds between entries: some too close, some far ahead.
    private static let distances: [Int64] = [0, 1_000, 20_000, 60_000, 300_000, 900_000, 3_600_000, 21_600_000]

    /// Domain time as the call says it.
    let now: Int64
    let family: String
    let call: String
    let mark: String

    /// The fields of an answer, and what the witness is told of it.
    func make(_ random: inout SimRandom) -> (fields: String, timeline: WitnessedTimeline) {
        let needsLogin = random.oneIn(12)
        let count = needsLogin ? 1 : random.oneIn(8) ? 1 + random.below(30) : 1 + random.below(5)
        // Some begin in the past, few ahead.
        let reach = Self.distances[random.below(Self.distances.count)]
        var date = now
        switch random.below(6) {
        case 0: date -= reach
        case 1: date += reach
        default: break
        }
        let distance = Self.distances[random.below(Self.distances.count)]
        var entries: [String] = []
        for index in 0..<count {
            entries.append(entry(index, date, &random))
            date += random.oneIn(3) ? Self.distances[random.below(6)] : distance
        }
        var fields = ""
        var policy: WitnessedTimeline.Policy = needsLogin ? .never : .atEnd
        switch random.below(5) {
        case 0: break
        case 1: (policy, fields) = (.atEnd, ",\"policy\":\"atEnd\"")
        case 2: (policy, fields) = (.never, ",\"policy\":\"never\"")
        default:
            let reach = Self.distances[random.below(Self.distances.count)] * (1 + random.below(3 as Int64))
            let after = random.oneIn(6) ? now - reach : now + reach
            (policy, fields) = (.after(after), ",\"policy\":{\"after\":\(after)}")
        }
        if needsLogin { fields += ",\"needsLogin\":true" }
        return (
            "\"call\":\"\(call)\",\"entries\":[" + entries.joined(separator: ",") + "]" + fields,
            WitnessedTimeline(
                call: call, entries: entries.compactMap { JSON(Array($0.utf8)) }, policy: policy,
                needsLogin: needsLogin)
        )
    }

    private func entry(_ index: Int, _ date: Int64, _ random: inout SimRandom) -> String {
        var fields = ["\"date\":\(date)", "\"content\":{\"m\":\"\(mark)\",\"i\":\(index)}"]
        if random.oneIn(4) {
            let duration = random.oneIn(2) ? ",\"duration\":\(random.below(3_600_000))" : ""
            fields.append("\"relevance\":{\"score\":\(random.below(4))\(duration)}")
        }
        if random.oneIn(4) { fields.append("\"url\":\"app://\(index)\"") }
        if WitnessedWidgetKind.allowsLinks(family), random.oneIn(2) {
            fields.append("\"links\":{\"more\":\"app://more/\(index)\"}")
        }
        return "{" + fields.joined(separator: ",") + "}"
    }

    /// What no timeline is.
    func makeWrong(_ random: inout SimRandom) -> String {
        func entry(_ date: Int64, _ more: String = "") -> String { "{\"date\":\(date)\(more)}" }
        let rest: String
        switch random.below(9) {
        case 0: rest = ",\"entries\":[\(entry(now + 5)),\(entry(now))]"
        case 1: rest = ",\"entries\":[]"
        case 2: rest = ""
        case 3: rest = ",\"entries\":[{\"content\":{}}]"
        case 4: rest = ",\"entries\":[\(entry(now, ",\"colour\":1"))]"
        case 5: rest = ",\"entries\":[\(entry(now))],\"policy\":\"sometimes\""
        case 6: rest = ",\"entries\":[\(entry(now)),\(entry(now))],\"needsLogin\":true"
        case 7: rest = ",\"entries\":[\(entry(12))]"
        default:
            rest = ",\"entries\":[" + (0...40).map { entry(now + Int64($0)) }.joined(separator: ",") + "]"
        }
        return "\"call\":\"\(call)\"" + rest
    }
}
