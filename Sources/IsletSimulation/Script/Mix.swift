import IsletOracle

/// What a seed's life is like: which faults, how often, how large, under which rules. Each seed draws its own.
struct Mix: Sendable {
    var rules = OracleRules()
    var weights: [Int] = []
    var apps = 1
    var devices = 2
    var clients = 2
    var subscribers = 1
    /// Who follows a part of an app, by the app's number and what comes behind its name.
    var prefixReaders: [(app: Int, prefix: String)] = []
    var pace = SimJournal.Pace()
    /// How long old batches are kept for replays.
    var keeping: Int64 = 30_000
    var trims = true
    /// The longest step of time in milliseconds, for steps that say no more.
    var longStep: Int64 = 3_600_000
    var losesEvents = 0
    /// Whether there are controls and providers.
    var hasControls = false
    /// How many commands in a hundred are about controls.
    var controlShare = 0
    /// Whether apps share groups.
    var hasGroups = false
    /// How many of the other commands in a hundred are about groups.
    var groupShare = 0
    /// Whether there are widgets, and how many of the other commands in a hundred are about them.
    var hasWidgets = false
    var widgetShare = 0
    /// How many calls in a hundred go wrong.
    var misbehaviour = 0

    var isManual: Bool { rules.datesByDue }
    var hasProviders: Bool { hasControls || hasWidgets }

    init(_ random: inout SimRandom) {
        drawRules(&random)
        apps = 1 + random.below(3)
        devices = random.below(5)
        clients = 1 + random.below(3)
        subscribers = random.below(4)
        let slowness = random.pick([1, 1, 2, 4, 12]) ?? 1
        pace = SimJournal.Pace(write: slowness, sync: slowness, sweep: slowness + 2, read: slowness + 2)
        keeping = random.oneIn(3) ? 86_400_000 : 30_000
        trims = !random.oneIn(4)
        longStep = random.pick([60_000, 3_600_000, 4 * 3_600_000, 30 * 3_600_000]) ?? 0
        losesEvents = random.oneIn(2) ? random.below(30) : 0
        hasControls = !random.oneIn(3)
        controlShare = 15 + random.below(60)
        misbehaviour = random.oneIn(3) ? 0 : random.below(70)
        drawGroups(random)
        hasWidgets = !random.oneIn(3)
        widgetShare = 15 + random.below(60)
        drawWidgetRules(&random)
        drawPrefixReaders(random)
        weights = Step.Kind.allCases.map { kind in
            let weight = self.weight(kind)
            // Swarms: what is left out lets the rest go deeper.
            return Self.isFault(kind) ? (random.oneIn(2) ? 0 : weight * (1 + random.below(4))) : weight
        }
    }

    /// From a copy, so that the rest of a seed's life is what it would be without.
    private mutating func drawGroups(_ other: SimRandom) {
        var other = other
        var random = SimRandom(seed: other.next() ^ 0x6707)
        hasGroups = random.oneIn(2)
        groupShare = 5 + random.below(25)
        guard random.oneIn(2) else { return }
        rules.groupValueLimit = 20 + random.below(40)
        rules.maximumGroupKeys = 2 + random.below(3)
        rules.groupLimit = 40 + random.below(80)
    }

    /// From a copy, too.
    private mutating func drawPrefixReaders(_ other: SimRandom) {
        var other = other
        var random = SimRandom(seed: other.next() ^ 0x9EF1)
        let prefixes = ["/activity/", "/control/", "/control/Do", "/widget/", "/group/", "/activity/0"]
        for _ in 0..<random.below(3) {
            prefixReaders.append((app: random.below(apps), prefix: prefixes[random.below(prefixes.count)]))
        }
    }

    private mutating func drawWidgetRules(_ random: inout SimRandom) {
        rules.widgets.maximumEntries = 40
        guard !random.oneIn(4) else { return }
        rules.widgets.dailyBudget = [1, 2, 3, 6, 60][random.below(5)]
        rules.widgets.learningBudget = rules.widgets.dailyBudget + random.below(4)
        rules.widgets.learningSpan = [0, 3_600_000, 36_000_000, 3 * 86_400_000][random.below(4)]
        rules.widgets.reloadSpacing = [0, 1_000, 20_000, 300_000, 3_600_000][random.below(5)]
        rules.widgets.entrySpacing = [0, 1_000, 60_000, 300_000][random.below(4)]
        rules.widgets.jitter = [0, 5_000, 60_000][random.below(3)]
        rules.widgets.retryFirst = [1_000, 5_000, 60_000][random.below(3)]
        rules.widgets.retryLongest = [60_000, 7_200_000][random.below(2)]
    }

    private mutating func drawRules(_ random: inout SimRandom) {
        rules.datesByDue = random.oneIn(5)
        guard random.oneIn(2) else { return }
        if random.oneIn(2) {
            // Short lives: many deadlines close together.
            rules.activeLimit = 20_000
            rules.dismissalLimit = 8_000
            rules.retention = 60_000
            rules.futureLimit = 10_000
        }
        rules.maximumPerApp = 1 + random.below(6)
        rules.maximumPerDevice = 2 + random.below(6)
        rules.endedCount = random.oneIn(3)
        rules.pushEndAcceptsOlder = random.oneIn(2)
        rules.ignoresUnchanged = !random.oneIn(3)
        rules.contentLimit = random.oneIn(2) ? 80 : 4_096
        // Some last longer than a dismissed activity is retained.
        if random.oneIn(2) { rules.mute = random.oneIn(2) ? rules.activeLimit : 2 * rules.retention }
        if random.oneIn(2) { rules.silenceStale = rules.activeLimit / 8 }
        if random.oneIn(2) { rules.silenceEnds = rules.activeLimit / 4 }
    }

    private func weight(_ kind: Step.Kind) -> Int {
        switch kind {
        case .command: 240
        case .batch: 50
        case .retry: 40
        case .forgedRetry: 4
        case .pass: 60
        case .passToDeadline: isManual ? 0 : 60
        case .passLong: 16
        case .jump, .freeze, .suspend: isManual ? 0 : 4
        case .advance: isManual ? 60 : 1
        case .kill: 8
        case .powerLoss: 6
        case .inputOutputError: 4
        case .cleanRestart: 3
        case .fullDisk: 5
        case .slowDisk: 8
        case .subscriber: 12
        case .verify: 4
        case .idle: 12
        case .provider: hasProviders ? 40 : 0
        case .world: hasControls ? 20 : 0
        }
    }

    private static func isFault(_ kind: Step.Kind) -> Bool {
        switch kind {
        case .jump, .freeze, .suspend, .kill, .powerLoss, .inputOutputError, .cleanRestart,
            .fullDisk, .slowDisk, .forgedRetry: true
        case .command, .batch, .retry, .pass, .passToDeadline, .passLong, .advance, .subscriber, .verify, .idle,
            .provider, .world: false
        }
    }
}
