import Foundation
import IsletPowerLoss
import Testing

@Suite(.serialized, .timeLimit(.minutes(10))) struct PowerLossTests {
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
        #expect(tally.reads > losses)
    }

    /// A kill at each sync of a run, another process that opens the folder, and loss of power while it does: what that
    /// one read of what was never synced, such as that a segment is trimmed, must not be acted upon before it is.
    /// `islet-powerloss --every-call` kills at all other calls too.
    @Test(arguments: [true, false])
    func aProcessThatGoesOnAfterAKillDoesNotActUponWhatWasNeverSynced(syncsCommits: Bool) async {
        await #expect(processExitsWith: .success) { [syncsCommits] in
            await PowerLossTests.telling { try await PowerLossTests.sweep(syncsCommits: syncsCommits) }
        }
        if let failure = PowerLossTests.told() { Issue.record("\(failure)") }
    }

    private static func sweep(syncsCommits: Bool) async throws {
        var sweep = StopSweep(seed: number("ISLET_SEED") ?? 1)
        sweep.syncsCommits = syncsCommits
        (sweep.isAtSyncs, sweep.share) = (true, 12)
        let tally = try await sweep.run()
        print(tally.line(seed: sweep.seed))
        // Each sync of the run, several losses of power while opening after most of them, and a disk that loses.
        #expect(tally.kills > 50)
        #expect(tally.stoppedOpenings > 2 * tally.kills)
        #expect(tally.lostWrites > tally.kills)
        #expect(tally.lostNames > tally.kills)
    }

    /// After a loss of commits that were not synced, an opening is stopped at each of its calls.
    @Test(arguments: [false, true])
    func whatWasLostIsRememberedUntilItIsSettledHoweverOpeningsEnd(removesState: Bool) async {
        await #expect(processExitsWith: .success) { [removesState] in
            await PowerLossTests.telling {
                var sweep = OpeningSweep(seed: PowerLossTests.number("ISLET_SEED") ?? 1)
                sweep.removesState = removesState
                let tally = try await sweep.run()
                print(tally.line(seed: sweep.seed))
                #expect(tally.stoppedOpenings > 100)
                #expect(tally.lostWrites > 0)
            }
        }
        if let failure = PowerLossTests.told() { Issue.record("\(failure)") }
    }

    @Test func aGoodbyeWithoutRoomForTheLastSyncDoesNotSayThatEverythingIsThere() async {
        await #expect(processExitsWith: .success) {
            await PowerLossTests.telling {
                let sweep = GoodbyeSweep(seed: PowerLossTests.number("ISLET_SEED") ?? 1)
                let tally = try await sweep.run()
                print(tally.line(seed: sweep.seed))
                #expect(tally.faults > 50)
            }
        }
        if let failure = PowerLossTests.told() { Issue.record("\(failure)") }
    }

    @Test(arguments: SpoiledReads.allCases) func aReadThatIsNotWhatWasWrittenIsFound(how: SpoiledReads) async {
        await #expect(processExitsWith: .success) { [how] in
            var campaign = LossCampaign(seed: 1, powerLosses: 50)
            campaign.spoiledReads = how
            campaign.keepsFailures = false
            let failure = await #expect(throws: LossCampaign.Failure.self) { try await campaign.run() }
            #expect(failure?.message.contains("a read ") == true)
        }
    }

    /// Else a campaign would count what proves nothing.
    @Test func aPowerLossWithNothingUnsyncedIsCountedApart() {
        var tally = LossTally()
        tally.add(CrashDisk.Losses())
        #expect((tally.powerLosses, tally.idlePowerLosses) == (0, 1))
        tally.add(CrashDisk.Losses(unsynced: 1))
        tally.add(CrashDisk.Losses(names: 1))
        #expect((tally.powerLosses, tally.idlePowerLosses) == (2, 1))
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
