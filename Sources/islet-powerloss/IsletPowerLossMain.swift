import Glibc
import IsletPowerLoss

/// `islet-powerloss`: the real store and SQLite on a disk that forgets what was not synced, for many losses of power.
@main
struct IsletPowerLossMain {
    private static let usage = """
        usage: islet-powerloss [--losses N | --every-call | --openings] [--seed S] [--directory PATH] [--ignore-syncs] [--json]

        """

    static func main() async {
        var campaign = LossCampaign(seed: 1, powerLosses: 1_000)
        var isJSON = false
        // What is swept, by the name that asks for it.
        var sweep: (name: String, run: (LossCampaign) async throws(LossCampaign.Failure) -> LossTally)?
        var arguments = CommandLine.arguments.dropFirst()
        while let argument = arguments.popFirst() {
            switch argument {
            case "--ignore-syncs": campaign.ignoresSyncs = true
            case "--json": isJSON = true
            case "--every-call": sweep = (argument, everyCall)
            case "--openings": sweep = (argument, openings)
            case "--directory":
                guard let value = arguments.popFirst() else { refuse() }
                campaign.directory = value
            case "--losses", "--seed":
                guard let value = arguments.popFirst().flatMap({ UInt64($0) }) else { refuse() }
                if argument == "--seed" { campaign.seed = value } else { campaign.powerLosses = Int(clamping: value) }
            default: refuse()
            }
        }
        do throws(LossCampaign.Failure) {
            let clock = ContinuousClock()
            let start = clock.now
            let tally = if let sweep { try await sweep.run(campaign) } else { try await campaign.run() }
            let seconds = Double((clock.now - start) / .milliseconds(1)) / 1_000
            print(isJSON ? tally.json(seed: campaign.seed, seconds: seconds) : tally.line(seed: campaign.seed))
        } catch {
            print("FAILED \(error)")
            let how = sweep?.name ?? "--losses 1"
            print("  again: swift run -c release islet-powerloss \(how) --seed \(error.seed)")
            exit(1)
        }
    }

    /// Kills one run at each of its calls, with commits that are synced and then with others.
    private static func everyCall(_ campaign: LossCampaign) async throws(LossCampaign.Failure) -> LossTally {
        var sweep = StopSweep(seed: campaign.seed)
        sweep.directory = campaign.directory
        let tally = try await sweep.run()
        sweep.syncsCommits = false
        return try await tally + sweep.run()
    }

    /// Stops openings after a loss at each of their calls, and says goodbye while the disk is full.
    private static func openings(_ campaign: LossCampaign) async throws(LossCampaign.Failure) -> LossTally {
        var sweep = OpeningSweep(seed: campaign.seed)
        (sweep.directory, sweep.losses) = (campaign.directory, 8)
        let tally = try await sweep.run()
        sweep.removesState = true
        var goodbyes = GoodbyeSweep(seed: campaign.seed)
        (goodbyes.directory, goodbyes.losses) = (campaign.directory, 40)
        return try await tally + sweep.run() + goodbyes.run()
    }

    private static func refuse() -> Never {
        print(usage)
        exit(64)
    }
}
