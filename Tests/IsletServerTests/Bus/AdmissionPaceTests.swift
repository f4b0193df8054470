import IsletServer
import Testing

@Suite struct AdmissionPaceTests {
    private var pace = AdmissionPace()

    private mutating func taken(of count: Int, at time: Int64) -> Int {
        var taken = 0
        for _ in 0..<count where pace.takes(at: time) { taken += 1 }
        return taken
    }

    @Test mutating func everybodyIsTakenAsLongAsNobodyWasCut() {
        let all = taken(of: 1_000, at: 5)
        #expect(all == 1_000 && pace.shut == 0)
    }

    @Test mutating func afterACutSoManyAreTakenEachSecond() {
        pace.cut(at: 100)
        for second in 0..<9 as Range<Int64> {
            let taken = taken(of: 20, at: 5_000 + second * 500)
            #expect(taken == (second.isMultiple(of: 2) ? AdmissionPace.perSecond : 0))
        }
        #expect(pace.shut == 9 * 20 - 5 * UInt64(AdmissionPace.perSecond))
    }

    @Test mutating func aWhileAfterTheLastCutEverybodyIsTakenAgain() {
        pace.cut(at: 0)
        pace.cut(at: 7)
        let during = taken(of: 20, at: 6 + AdmissionPace.afterCut)
        let after = taken(of: 20, at: 7 + AdmissionPace.afterCut)
        #expect(during == AdmissionPace.perSecond && after == 20)
    }
}
