import IsletCore
import Testing

/// The books of reloads against a list of all dates.
@Suite("Widgets: the ledger of reloads")
struct ReloadLedgerTests {
    private static let seeds = (0..<40).map { UInt64($0) &* 0x9E37_79B9 + 3 }

    @Test("spent, and the first date that is free, are those of a naive count", arguments: seeds)
    func naive(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var rules = RuleSet.standard
        rules.widgetDailyBudget = Int(random.below(6))
        rules.widgetLearningBudget = Int(random.below(8))
        rules.widgetLearningSpan = random.below(60 * hour)
        let added = EngineRig.start
        var now = added
        var ledger = ReloadLedger()
        var all: [Instant] = []
        func count(_ date: Instant) -> Int { all.count { $0 <= date && date - $0 < 24 * hour } }
        func limit(_ date: Instant) -> Int {
            date - added < rules.widgetLearningSpan ? rules.widgetLearningBudget : rules.widgetDailyBudget
        }
        for _ in 0..<300 {
            now = now + (random.oneIn(4) ? random.below(20 * hour) : random.below(hour))
            #expect(ledger.spent(at: now) == count(now), "seed \(seed)")
            let free = ledger.freeAt(now, addedAt: added, rules)
            // The first moment that may be the one: now, the end of the first days, or a reload that leaves.
            let moments = ([now, added + rules.widgetLearningSpan] + all.map { $0 + 24 * hour })
                .filter { $0 >= now }.sorted()
            let expected = moments.first { count($0) < limit($0) } ?? .never
            #expect(free == expected, "seed \(seed): \(free) and not \(expected)")
            if free == now {
                ledger.charge(at: now)
                all.append(now)
                if random.oneIn(5) {
                    ledger.refund(.charged)
                    all.removeLast()
                }
            }
        }
    }

    @Test("exemptions are counted and given back")
    func exempt() {
        var ledger = ReloadLedger()
        ledger.note(.foreground)
        ledger.note(.foreground)
        ledger.note(.placement)
        ledger.refund(.exempt(.foreground))
        ledger.refund(.none)
        ledger.refund(.exempt(.standBy))
        #expect(ledger.exempt == [1, 0, 0, 0, 0, 0, 0, 1] && ledger.dates.isEmpty)
    }

    @Test("a reload counts until 24 hours after it, to the millisecond")
    func edge() {
        var ledger = ReloadLedger()
        let date = EngineRig.start
        ledger.charge(at: date)
        #expect(ledger.spent(at: date + (24 * hour - 1)) == 1 && ledger.spent(at: date + 24 * hour) == 0)
    }
}
