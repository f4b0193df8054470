/// The order of Smart Stacks (apple-semantics 5, Smart Stack): the relevance of entries, then that of kinds, then the
/// order of their placing.
extension WidgetWitness {
    /// A provider said when its kind is relevant: from a date until another one; nil: it is not.
    package func saidRelevance(_ app: String, _ kind: String, _ span: Range<Int64>?) {
        guard let span else { return }
        relevances["\(app) \(kind)", default: []].insert(span)
    }

    /// What is wrong with the rows of a stack; nil: nothing.
    ///
    /// - Parameters:
    ///   - rows: as they were read.
    ///   - known: the ids of those that are the same still.
    ///   - date: when it was read.
    ///   - isAtRest: whether everything stands as it stood then.
    package func fault(ofStack rows: [JSON], known: Set<String>, at date: Int64, isAtRest: Bool) -> String? {
        var before: StackPlace?
        var ofKinds: [String: JSON] = [:]
        for row in rows {
            guard let id = row["id"]?.string, let rank = Self.rank(row) else { return "no row: \(row.text)" }
            let widget = known.contains(id) ? self.widget(id: id) : nil
            let place = StackPlace(rank: rank, score: row["score"]?.double ?? 0, widget: widget)
            if let before, !before.mayStandBefore(place) { return "in the wrong order: \(row.text)" }
            before = place
            if let fault = fault(ofRow: row, rank, widget, at: date, isAtRest: isAtRest) {
                return "\(fault): \(row.text)"
            }
            guard rank > 0 else { continue }
            // What decides is the same for all of a kind.
            let kind = "\(row["app"]?.string ?? "") \(row["kind"]?.string ?? "")"
            let reason = JSON.array([row["rule"] ?? .null, row["until"] ?? .null])
            if ofKinds[kind, default: reason] != reason { return "\(kind) has several relevances: \(row.text)" }
            ofKinds[kind] = reason
        }
        return nil
    }

    private static func rank(_ row: JSON) -> Int? {
        row["rule"]?.string.flatMap { ["entryRelevance", "widgetRelevance", "placement"].firstIndex(of: $0) }
    }

    private func fault(
        ofRow row: JSON, _ rank: Int, _ widget: WitnessedWidget?, at date: Int64, isAtRest: Bool
    ) -> String? {
        let until = row["until"]?.integer
        if let until, until <= date { return "its relevance is over" }
        if (rank == 0) != (row["score"] != nil) { return "a score by another rule" }
        if rank == 1 {
            let said = relevances["\(row["app"]?.string ?? "") \(row["kind"]?.string ?? "")", default: []]
            guard said.contains(where: { $0.upperBound == until && $0.lowerBound <= date }) else {
                return "nobody said so of its kind"
            }
        }
        if rank == 2, until != nil { return "its place ends without a relevance" }
        guard isAtRest, let widget, let relevance = widget.relevance(at: date) else { return nil }
        guard let score = relevance.score else { return rank == 0 ? "its entry has no relevance" : nil }
        guard rank == 0, abs((row["score"]?.double ?? 0) - score) < 0.000_001 else { return "its score is \(score)" }
        return until == relevance.until ? nil : "its relevance ends at \(relevance.until ?? -1)"
    }
}

/// Where a row of a Smart Stack belongs.
private struct StackPlace {
    var rank: Int
    var score: Double
    /// nil: another one has its id, or had.
    var widget: WitnessedWidget?

    func mayStandBefore(_ next: StackPlace) -> Bool {
        if rank != next.rank { return rank < next.rank }
        if score != next.score { return score > next.score }
        guard let widget, let other = next.widget else { return true }
        return (widget.addedAt, widget.placing) < (other.addedAt, other.placing)
    }
}

extension WitnessedWidget {
    /// The relevance of the entry that is shown: its score, with 1 for the highest of its timeline, and its end. No score:
    /// it has none; nil: nobody can tell.
    fileprivate func relevance(at date: Int64) -> (score: Double?, until: Int64?)? {
        guard let entry = entity["entry"] else { return (nil, nil) }
        guard let own = entry["relevance"]?["score"]?.integer, own > 0 else { return (nil, nil) }
        // One of an earlier timeline has the score that it had there.
        guard let timeline, alternatives.isEmpty, let index = entity["entryIndex"]?.integer.map({ Int($0) }),
            index < timeline.entries.count, timeline.entries[index] == entry
        else { return nil }
        let highest = timeline.entries.compactMap { $0["relevance"]?["score"]?.integer }.max() ?? own
        let duration = entry["relevance"]?["duration"]?.integer ?? 0
        let until = duration > 0 ? timeline.dates[index] + duration : nil
        if let until, until <= date { return (nil, nil) }
        return (Double(own) / Double(highest), until)
    }
}
