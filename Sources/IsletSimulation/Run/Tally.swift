/// What happened in a run, counted, and the hash over all of it.
package struct Tally: Sendable, Equatable {
    package var steps = 0
    package var turns = 0
    package var simulatedMilliseconds: Int64 = 0
    package var commands = 0
    package var transitions = 0
    package var deadlines = 0
    package var kills = 0
    package var powerLosses = 0
    package var inputOutputErrors = 0
    package var recoveryCrashes = 0
    package var cleanRestarts = 0
    package var clockJumps = 0
    /// How often domain time leapt between two turns.
    package var leaps = 0
    package var retries = 0
    package var fullDisks = 0
    package var replays = 0
    package var tooOlds = 0
    package var snapshots = 0
    /// Snapshots of what stands under a prefix.
    package var filtered = 0
    package var joins = 0
    package var answers = 0
    package var checks = 0
    package var sweeps = 0
    package var controlEvents = 0
    package var groupEvents = 0
    package var widgetEvents = 0
    /// Budgets that were compared.
    package var budgets = 0
    package var calls = 0
    package var performs = 0
    package var settled = 0
    package var digests = 0
    /// Commands that came to nothing because their `ttl` was over, and reads that waited for their `minSeq`.
    package var expired = 0
    package var waits = 0
    /// Controls and widgets that went to another app in one message; commands about what is another app's.
    package var moves = 0
    package var strangers = 0
    /// Retries about controls and widgets with other bytes.
    package var forgeries = 0
    /// Providers that left as another one came, and those that came with another one's id.
    package var replacements = 0
    package var namesakes = 0
    /// Apps whose kinds were declared anew otherwise.
    package var deployments = 0
    /// How often each kind of event was handed to the journal, by its name.
    package var events: [String: Int] = [:]
    /// FNV-1a over everything that left the service and everything that was found right.
    package var hash: UInt64 = 14_695_981_039_346_656_037

    mutating func hash(_ bytes: some Sequence<UInt8>) {
        for byte in bytes { hash = (hash ^ UInt64(byte)) &* 1_099_511_628_211 }
    }

    mutating func hash(_ number: Int64) {
        hash = (hash ^ UInt64(bitPattern: number)) &* 1_099_511_628_211
    }

    /// Adds another run's counts.
    mutating func add(_ other: Tally) {
        steps += other.steps
        turns += other.turns
        simulatedMilliseconds += other.simulatedMilliseconds
        commands += other.commands
        transitions += other.transitions
        deadlines += other.deadlines
        kills += other.kills
        powerLosses += other.powerLosses
        inputOutputErrors += other.inputOutputErrors
        recoveryCrashes += other.recoveryCrashes
        cleanRestarts += other.cleanRestarts
        clockJumps += other.clockJumps
        leaps += other.leaps
        retries += other.retries
        fullDisks += other.fullDisks
        replays += other.replays
        tooOlds += other.tooOlds
        snapshots += other.snapshots
        filtered += other.filtered
        joins += other.joins
        answers += other.answers
        checks += other.checks
        sweeps += other.sweeps
        controlEvents += other.controlEvents
        groupEvents += other.groupEvents
        widgetEvents += other.widgetEvents
        budgets += other.budgets
        calls += other.calls
        performs += other.performs
        settled += other.settled
        digests += other.digests
        expired += other.expired
        waits += other.waits
        moves += other.moves
        strangers += other.strangers
        forgeries += other.forgeries
        replacements += other.replacements
        namesakes += other.namesakes
        deployments += other.deployments
        events.merge(other.events) { $0 + $1 }
        hash(Int64(bitPattern: other.hash))
    }

    /// The counts by their names.
    package var figures: [(name: String, value: Int)] {
        [
            ("steps", steps), ("turns", turns), ("commands", commands), ("transitions", transitions),
            ("deadlines", deadlines), ("kills", kills), ("powerLosses", powerLosses),
            ("inputOutputErrors", inputOutputErrors), ("recoveryCrashes", recoveryCrashes),
            ("cleanRestarts", cleanRestarts), ("clockJumps", clockJumps), ("leaps", leaps),
            ("retries", retries), ("fullDisks", fullDisks), ("replays", replays), ("tooOld", tooOlds),
            ("snapshots", snapshots), ("filtered", filtered), ("joins", joins), ("answers", answers), ("checks", checks), ("sweeps", sweeps),
            ("controlEvents", controlEvents), ("widgetEvents", widgetEvents), ("budgets", budgets),
            ("groupEvents", groupEvents), ("calls", calls), ("performs", performs), ("settledControls", settled),
            ("digests", digests), ("expired", expired), ("waits", waits), ("moves", moves), ("strangers", strangers),
            ("forgeries", forgeries), ("replacements", replacements), ("namesakes", namesakes),
            ("deployments", deployments),
        ]
    }
}
