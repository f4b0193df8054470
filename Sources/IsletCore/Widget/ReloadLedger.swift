/// The reloads of one placed widget: the exact dates of those that were charged within the last 24 hours, and how many
/// were not charged, by exemption (apple-semantics 5, budget and exempt).
///
/// The window rolls: a reload counts until 24 hours after it, to the millisecond.
package struct ReloadLedger: Equatable, Sendable {
    /// How long a reload counts.
    package static let window: Milliseconds = 24 * 3_600_000

    /// The largest budget that may be set: all its dates fit into one payload.
    package static let largestBudget = 10_000

    /// Of the charged reloads, the oldest first; older ones than the window are dropped with the next charge.
    package private(set) var dates: [Instant] = []
    /// How many were not charged since it was placed, by exemption, in the order of their cases.
    package private(set) var exempt = [UInt32](repeating: 0, count: ReloadExemption.allCases.count)

    package init() {}

    /// Whether there is nothing in it.
    package var isEmpty: Bool { dates.isEmpty && exempt.allSatisfy { $0 == 0 } }

    /// A reload was charged.
    package mutating func charge(at now: Instant) {
        dates.removeFirst(dates.count - spent(at: now))
        dates.append(max(now, dates.last ?? now))
    }

    /// A reload was not charged.
    package mutating func note(_ exemption: ReloadExemption) {
        let index = Int(exemption.rawValue)
        if exempt[index] < .max { exempt[index] += 1 }
    }

    /// The last reload asked nobody: it is given back.
    package mutating func refund(_ charge: WidgetMachine.Charge) {
        switch charge {
        case .none: break
        case .charged: _ = dates.popLast()
        case .exempt(let exemption):
            let index = Int(exemption.rawValue)
            if exempt[index] > 0 { exempt[index] -= 1 }
        }
    }

    /// How many charged reloads count.
    package func spent(at now: Instant) -> Int {
        var (low, high) = (0, dates.count)
        while low < high {
            let middle = (low + high) / 2
            if dates[middle] + Self.window <= now { low = middle + 1 } else { high = middle }
        }
        return dates.count - low
    }

    /// The earliest date, not before `now`, at which fewer count than may; `never` where the budget is nothing.
    package func freeAt(_ now: Instant, addedAt: Instant, _ rules: RuleSet) -> Instant {
        let learningEnd = addedAt + rules.widgetLearningSpan
        let early = freeAt(now, limit: rules.widgetLearningBudget)
        if early < learningEnd { return early }
        return freeAt(max(now, learningEnd), limit: rules.widgetDailyBudget)
    }

    /// The same of one limit.
    private func freeAt(_ now: Instant, limit: Int) -> Instant {
        guard limit > 0 else { return .never }
        let excess = dates.count - limit
        return excess < 0 ? now : max(now, dates[excess] + Self.window)
    }

    /// How many may count now.
    static func limit(at now: Instant, addedAt: Instant, _ rules: RuleSet) -> Int {
        isLearning(at: now, addedAt: addedAt, rules) ? rules.widgetLearningBudget : rules.widgetDailyBudget
    }

    /// Whether it was placed a short while ago (apple-semantics 5, learning).
    static func isLearning(at now: Instant, addedAt: Instant, _ rules: RuleSet) -> Bool {
        now < addedAt + rules.widgetLearningSpan
    }
}

extension ReloadLedger {
    /// The bytes that are stored of it.
    var bytes: [UInt8] {
        var writer = ImageWriter()
        writer.write(byte: UInt8(exempt.count))
        for count in exempt { writer.write(count) }
        for date in dates { writer.write(date) }
        return writer.bytes
    }

    /// Reads what ``bytes`` gave, also of a release that knew fewer exemptions; nil where they are none.
    init?(_ bytes: UnsafeRawBufferPointer) {
        self.init()
        guard let known = bytes.first else { return }
        let head = 1 + Int(known) * 4
        guard Int(known) <= exempt.count, bytes.count >= head, (bytes.count - head).isMultiple(of: 8) else {
            return nil
        }
        for index in 0..<Int(known) {
            exempt[index] = UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: 1 + index * 4, as: UInt32.self))
        }
        for offset in stride(from: head, to: bytes.count, by: 8) {
            let milliseconds = bytes.loadUnaligned(fromByteOffset: offset, as: Milliseconds.self)
            let date = Instant(Milliseconds(littleEndian: milliseconds))
            guard date.isSet, date.isPlausible, date >= dates.last ?? date else { return nil }
            dates.append(date)
        }
    }
}

/// What a widget may spend, for `widget.budget`.
package struct WidgetBudget: Equatable, Sendable {
    package var limit: Int
    package var spent: Int
    package var left: Int
    package var isLearning: Bool
    /// Whether none of it is kept: by the device or by the rule set.
    package var isDeveloperMode: Bool
    /// When the last reload was asked for, charged or not.
    package var lastReloadAt: Instant?
    /// When a reload may be charged again; nil where one may now.
    package var freeAt: Instant?
    /// The dates of the charged ones that count, the oldest first.
    package var spentAt: [Instant]
    /// How many were not charged since it was placed; all exemptions, in their order.
    package var exempt: [(exemption: ReloadExemption, count: Int)]
    package var hold: WidgetMachine.Hold?

    package static func == (one: WidgetBudget, other: WidgetBudget) -> Bool {
        one.limit == other.limit && one.spent == other.spent && one.left == other.left
            && one.isLearning == other.isLearning && one.isDeveloperMode == other.isDeveloperMode
            && one.lastReloadAt == other.lastReloadAt && one.freeAt == other.freeAt && one.spentAt == other.spentAt
            && one.exempt.map(\.count) == other.exempt.map(\.count) && one.hold == other.hold
    }
}
