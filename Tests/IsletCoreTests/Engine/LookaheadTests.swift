import IsletCore
import Testing

@Suite("Lookahead")
struct LookaheadTests {
    @Test("finds the activities that are there, and no others") func finds() {
        let rig = EngineRig()
        rig.isChecked = false
        for _ in 0..<300 { rig.start(stale: rig.now + 60_000) }
        let known = (1...300).map { EntityID(UInt64($0)) }
        var lookahead = Lookahead()
        for id in known.prefix(100) { lookahead.add(id) }
        for number in 0..<100 { lookahead.add(EntityID(1_000_000 + UInt64(number))) }
        let added = lookahead.count
        #expect(added == 200)
        let found = rig.engine.fetch(&lookahead)
        #expect(found == 100)
        lookahead.removeAll()
        let foundInNone = rig.engine.fetch(&lookahead)
        #expect(foundInNone == 0)
    }

    @Test("takes no more than it may") func bounded() {
        var lookahead = Lookahead()
        for number in 0..<2 * Lookahead.maximumCount { lookahead.add(EntityID(UInt64(number))) }
        let (count, isFull) = (lookahead.count, lookahead.isFull)
        #expect(count == Lookahead.maximumCount)
        #expect(isFull)
    }

    @Test("changes nothing: what follows is the same with it and without") func changesNothing() {
        func lived(_ looksAhead: Bool) -> [String] {
            let rig = EngineRig()
            var told: [String] = []
            for number in 0..<200 {
                let isScheduled = number % 5 == 0
                rig.start(
                    stale: rig.now + Milliseconds(number % 7 * 1_000 + 1), on: isScheduled ? rig.now + 500 : nil,
                    alert: isScheduled ? "{}" : nil)
                told += rig.told
            }
            for step in 0..<50 {
                if looksAhead {
                    var lookahead = Lookahead()
                    for number in 1...200 { lookahead.add(EntityID(UInt64(number))) }
                    rig.engine.fetch(&lookahead)
                }
                rig.end(.id(EntityID(UInt64(step * 4 + 1))), policy: .after(rig.now + 100))
                told += rig.told
                rig.pass(173)
                told += rig.told
            }
            return told
        }
        let with = lived(true)
        #expect(with.count > 200)
        #expect(with == lived(false))
    }

    @Test("is left out where few activities fit the caches anyway") func fewActivities() {
        let rig = EngineRig()
        rig.isChecked = false
        rig.start()
        let before = rig.engine.isWorthFetching
        for _ in 0..<4_095 { rig.start() }
        let after = rig.engine.isWorthFetching
        #expect((before, after) == (false, true))
    }
}
