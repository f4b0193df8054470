import Testing

/// Which rows of apple-semantics 1.2 the tests of the core cover, and which they do not.
@Suite("The fact sheet's rows")
struct FactSheetRowsTests {
    /// Rows that are tested outside the state × event table.
    static let elsewhere: [Int: String] = [
        1: "MachineDatesTests.startIsActive, EngineStartTests",
        2: "MachineDatesTests.staleAtStart",
        3: "EngineDeviceEventsTests.background",
        4: "EngineStartTests.refusedLeavesNothing",
        5: "MachineDatesTests.scheduled, EngineMaximaTests.pendingCounts",
        11: "MachineDatesTests.staleBeforeStart",
        32: "EngineDeviceEventsTests.nothingHappens",
        33: "EngineDeviceEventsTests.nothingHappens",
        40: "MachineDatesTests.endedNeverStale",
    ]

    /// Rows that no test of the core covers, and why.
    static let notCovered: [Int: String] = [
        6: "push starts come as commands with the source push; payloads of APNs are a later family",
        7: "what APNs drops in silence never reaches the service",
        18: "content is not decoded: no schema per type yet",
        42: "push tokens are a later family",
        43: "push tokens are a later family",
    ]

    @Test("every row is covered or said not to be")
    func allRows() {
        let covered = Set(MachineTable.cases.flatMap(\.rows)).union(Self.elsewhere.keys)
        #expect(covered.isDisjoint(with: Self.notCovered.keys))
        #expect(covered.union(Self.notCovered.keys) == Set(1...43))
        let required = [1...5, 8...16, 19...32, 35...41].flatMap { Array($0) }
        #expect(covered.isSuperset(of: required))
    }
}
