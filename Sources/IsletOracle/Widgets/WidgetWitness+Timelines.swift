/// Timelines: each is one that was given, and its entries are shown in their time.
extension WidgetWitness {
    /// A timeline came.
    func arrived(_ passage: WidgetPassage, _ widget: inout WitnessedWidget, _ check: Check) {
        let given = callsByQuestion["\(widget.id) \(widget.life) \(widget.askedSeq)", default: []]
            .flatMap { timelines[$0] ?? [] }
        let alike = given.filter { isThis($0, passage) }
        // Of two that were given for one question, the later may be the one that was refused as late.
        let fitting = alike.filter { fits($0, passage) }
        guard let timeline = fitting.first ?? alike.first else {
            return check(false, "a timeline that nobody gave for this reload; given: \(given.map(\.entries))")
        }
        let at = passage.at
        widget.alternatives = fitting.dropFirst().filter { $0.entries != timeline.entries }
        let index = timeline.newest(by: at)
        (widget.timeline, widget.index) = (timeline, index)
        (widget.failures, widget.retryAt) = (0, nil)
        check(passage.after["timelineAt"] == .integer(at), "it came when?")
        check((passage.after["needsLogin"] == .bool(true)) == timeline.needsLogin, "needsLogin")
        check(passage.after["entryIndex"] == index.map { .integer(Int64($0)) }, "it should show entry \(index ?? -1)")
        if let index {
            check(passage.after["entry"] == timeline.entries[index], "another entry")
        } else {
            check(passage.isSame("entry"), "an entry before its date")
        }
        let rules = passage.event["rules"]?.array ?? []
        check(rules.contains(.string("pastEntriesDropped")) == (index ?? 0 > 0), "pastEntriesDropped")
        let asked = widget.asks.last?.at ?? at
        widget.shownAt = index.map { max(timeline.dates[$0], min(asked, at)) } ?? at
        let spacing = spacing(of: widget, since: at)
        widget.isCourseKnown = spacing != nil && widget.alternatives.isEmpty
        widget.nextEntryAt = timeline.next(after: index, shownAt: widget.shownAt, spacing: spacing ?? 0)
        widget.policyAt = policyDates(timeline, asked: asked, at: at)
        for other in widget.alternatives {
            guard let own = widget.policyAt, let its = policyDates(other, asked: asked, at: at) else { continue }
            widget.policyAt = min(own.lowerBound, its.lowerBound)...max(own.upperBound, its.upperBound)
        }
    }

    private func isThis(_ timeline: WitnessedTimeline, _ passage: WidgetPassage) -> Bool {
        guard passage.after["entries"] == .integer(Int64(timeline.entries.count)),
            passage.after["policy"] == timeline.policy.json
        else { return false }
        guard passage.after["entryIndex"] != nil, let entry = passage.after["entry"] else { return true }
        return timeline.entries.contains(entry)
    }

    /// Whether it is the one of those that look the same: the event shows none of its entries where all are ahead.
    private func fits(_ timeline: WitnessedTimeline, _ passage: WidgetPassage) -> Bool {
        let index = timeline.newest(by: passage.at)
        let next = passage.after["next"]
        return passage.after["entryIndex"] == index.map { .integer(Int64($0)) }
            && (passage.after["needsLogin"] == .bool(true)) == timeline.needsLogin
            && (index != nil || next?["cause"] != .string("entry") || next?["at"]?.integer == timeline.dates.first)
    }

    /// The distance of entries: nil where it was lifted or came back since.
    private func spacing(of widget: WitnessedWidget, since date: Int64) -> Int64? {
        let stands = oracle.condition("developerMode", widget.device, app: widget.app, since: date)
        return stands.always ? 0 : stands.ever ? nil : rules.entrySpacing
    }

    /// Not in the past, not before its date, a little later by chance, and not too close to the reload that it came with.
    private func policyDates(_ timeline: WitnessedTimeline, asked: Int64, at: Int64) -> ClosedRange<Int64>? {
        let least = max(at, asked + min(rules.reloadSpacing, WidgetRules.shortestPolicySpan))
        let most = max(at, asked + max(rules.reloadSpacing, WidgetRules.shortestPolicySpan))
        switch timeline.policy {
        case .never: return nil
        case .atEnd:
            let last = timeline.dates.last ?? at
            return max(last, least)...max(last, most)
        case .after(let date):
            let jitter = min(rules.jitter, max(0, (date - at) / 10))
            return max(date, least)...max(date + jitter, most)
        }
    }

    /// The next entry's date is there.
    func reached(_ passage: WidgetPassage, _ widget: inout WitnessedWidget, _ check: Check) {
        if let entry = passage.after["entry"] {
            widget.timeline = widget.alternatives.first { $0.entries.contains(entry) } ?? widget.timeline
        }
        widget.alternatives = []
        guard let timeline = widget.timeline, let index = passage.after["entryIndex"]?.integer.map({ Int($0) }),
            index < timeline.entries.count
        else { return check(false, "an entry of no timeline") }
        check(passage.after["entry"] == timeline.entries[index], "another entry than \(index)")
        check(timeline.dates[index] <= passage.at, "an entry before its date")
        check(index > widget.index ?? -1, "an entry that was shown")
        let due = passage.at - (passage.event["lateBy"]?.integer ?? .max)
        check(timeline.dates[index] <= due, "it was due before its date")
        guard let spacing = spacing(of: widget, since: passage.after["timelineAt"]?.integer ?? 0), widget.isCourseKnown
        else {
            // The distance was another one meanwhile: what follows is told by the event alone.
            let next = passage.after["next"]
            (widget.index, widget.shownAt) = (index, due)
            widget.nextEntryAt = next?["cause"] == .string("entry") ? next?["at"]?.integer : nil
            widget.isCourseKnown = false
            return
        }
        var (shown, shownAt, next) = (widget.index, widget.shownAt, widget.nextEntryAt)
        while let date = next, date <= passage.at {
            (shown, shownAt) = (timeline.newest(by: date), date)
            next = timeline.next(after: shown, shownAt: shownAt, spacing: spacing)
        }
        check(shown == index, "entry \(shown ?? -1) is to be shown")
        check(shownAt == due, "it was due at \(shownAt)")
        (widget.index, widget.shownAt, widget.nextEntryAt) = (shown, shownAt, next)
    }
}
