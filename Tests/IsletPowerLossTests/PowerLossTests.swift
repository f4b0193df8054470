import Foundation
import IsletPowerLoss
import Testing

@Suite(.timeLimit(.minutes(10))) struct PowerLossTests {
    private static func number(_ name: String) -> UInt64? { ProcessInfo.processInfo.environment[name].flatMap { UInt64($0) } }

    /// `ISLET_POWER_LOSSES` and `ISLET_SEED` make it longer and another one.
    @Test func noLossOfPowerTakesWhatWasCommittedAndEveryFolderOpensAgain() async {
        // In a process of its own: what takes over the calls of the system, and how many descriptors are open, is no
        // business of other tests.
        await #expect(processExitsWith: .success) { await PowerLossTests.telling { try await PowerLossTests.bound() } }
        if let failure = PowerLossTests.told() { Issue.record("\(failure)") }
    }

    /// Where the process of a test says what it met: its output is not shown.
    private static func place(_ process: pid_t) -> String { "\(LossCampaign.temporaryDirectory)/islet-power-failure-\(process)" }

    private static func telling(_ body: () async throws -> Void) async {
        do {
            try await body()
        } catch {
            try? "\(error)".write(toFile: place(getppid()), atomically: true, encoding: .utf8)
            exit(EXIT_FAILURE)
        }
    }

    private static func told() -> String? {
        let path = place(getpid())
        defer { unlink(path) }
        return try? String(contentsOfFile: path, encoding: .utf8)
    }

    private static func bound() async throws {
        let seed = Self.number("ISLET_SEED") ?? 1
        let losses = Int(Self.number("ISLET_POWER_LOSSES") ?? 400)
        let tally = try await LossCampaign(seed: seed, powerLosses: losses).run()
        print(tally.line(seed: seed))
        #expect(tally.powerLosses >= losses)
        // A disk that loses nothing would prove nothing.
        #expect(tally.torn > losses / 20)
        #expect(tally.lostWrites > losses)
        #expect(tally.lostNames > losses / 20)
        #expect(tally.kills > losses / 20)
        #expect(tally.stoppedOpenings > losses / 20)
        #expect(tally.batches > losses)
        #expect(tally.faults > losses / 100)
        #expect(tally.segments > tally.openings)
    }

    @Test func aDiskThatOnlyClaimsToSyncIsFoundOut() async {
        await #expect(processExitsWith: .success) {
            var campaign = LossCampaign(seed: 1, powerLosses: 200)
            campaign.ignoresSyncs = true
            campaign.keepsFailures = false
            await #expect(throws: LossCampaign.Failure.self) { try await campaign.run() }
        }
    }
}
