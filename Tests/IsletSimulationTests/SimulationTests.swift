import IsletSimulation
import Testing

@Suite struct SimulationTests {
    /// The simulator's seeds in short: crashes, power losses, full disks, clock jumps, retries, subscribers; the long run is
    /// `swift run -c release islet-sim --seeds N`.
    @Test func aBoundedNumberOfSeedsLivesByTheRulesAndTwiceTheSame() {
        let report = Campaign(first: 1, seeds: 40, steps: 250).run()
        for failure in report.failures {
            let script = failure.shortest.joined(separator: ";")
            Issue.record(
                """
                islet-sim --seed \(failure.seed) --steps 250 --verbose: step \(failure.step): \(failure.message)
                islet-sim --seed \(failure.seed) --script "\(script)": \(failure.shortestMessage)
                """)
        }
        #expect(report.seeds == 40)
        // A run in which nothing happens proves nothing.
        #expect(report.total.transitions > 2_500)
        #expect(report.total.kills > 100 && report.total.powerLosses > 80 && report.total.recoveryCrashes > 60)
        #expect(report.total.fullDisks > 20 && report.total.clockJumps > 20 && report.total.retries > 200)
        #expect(report.total.widgetEvents > 3_000 && report.total.budgets > 300 && report.total.performs > 100)
        #expect(report.total.replays > 100 && report.total.snapshots > 20 && report.total.sweeps > 500)
    }
}
