import IsletCore
import IsletServer
import Testing

/// Random inputs in any order, judged by an observer that knows the rules alone.
@Suite struct ProviderModelTests {
    /// Odd seeds: breakers never open, nobody is dropped for faults, the effects of each input are taken at once, and every
    /// choice is foretold. Even ones: several inputs come in one turn, as they do in a service.
    @Test(arguments: 1...12 as ClosedRange<UInt64>)
    func everyCallEndsOnceInTimeAndWhereItShould(seed: UInt64) {
        let isExact = seed % 2 == 1
        var limits = ProviderTable.Limits()
        limits.workPerAdvance = 64
        limits.waitingActions = 8
        limits.waitingValues = 16
        if isExact {
            limits.breakerFailures = .max
            limits.faultLimit = 1 << 20
        } else {
            limits.breakerFailures = 3
            limits.waitingRetries = 2
            limits.faultLimit = 6
        }
        // As if the owner let in more reads than may wait, or only as many.
        let givesBack = seed % 4 < 2
        if !givesBack { (limits.nextReads, limits.doubtfulReads) = (.max, .max) }
        if seed % 3 == 0 {
            limits.maximumProviders = 4
            limits.maximumKindsPerProvider = 2
        }
        let run = ProviderRun(seed: seed, limits: limits, isExact: isExact)
        for step in 0..<20_000 {
            let input = run.step()
            var problem = run.observer.problem
            if problem == nil, step % 20 == 0 { problem = run.table.checkInvariants() }
            if let problem {
                Issue.record("seed \(seed), step \(step), \(input): \(problem)")
                return
            }
        }
        run.end()
        let rest = (run.table.openCalls, run.table.providerCount, run.observer.open.count)
        #expect(rest == (0, 0, 0), "seed \(seed)")
        #expect(run.observer.problem == nil, "seed \(seed)")
        let problem = run.table.checkInvariants()
        #expect(problem == nil, "seed \(seed)")
        #expect(run.observer.history.count > 1_000, "seed \(seed): too little happened")
        #expect(givesBack == (run.observer.givenBack > 20), "seed \(seed): \(run.observer.givenBack) were given back")
        #expect(seed % 3 != 0 || run.observer.refusals > 20, "seed \(seed): too few were refused")
        #expect(isExact || run.stale > 20 && run.unreachable > 20, "seed \(seed): too little met in one turn")
    }
}

/// One run of random inputs.
private final class ProviderRun {
    var table: ProviderTable
    var observer: ProviderObserver
    private var random: SeededGenerator
    private var now: Milliseconds = 5_000
    private var batch: [ProviderTable.Effect] = []
    private var jobs: UInt64 = 0
    private let isExact: Bool
    /// How often a call was not to be sent any more when its turn to be sent came.
    private(set) var stale = 0
    /// How often a provider could not be reached.
    private(set) var unreachable = 0

    init(seed: UInt64, limits: ProviderTable.Limits, isExact: Bool) {
        random = SeededGenerator(seed: seed)
        table = ProviderTable(limits: limits, base: random.next(), at: now)
        observer = ProviderObserver(isExact: isExact, limits: limits)
        self.isExact = isExact
    }

    /// - Returns: what it did.
    func step() -> String {
        let input: String
        let sort = pick(100)
        switch sort {
        case 0..<40: input = request()
        case 40..<70: input = answer()
        case 70..<76: input = cancel()
        case 76..<80: input = answerAnything()
        case 80..<86: input = register()
        case 86..<88: input = goAway()
        default: return pass(pick(10) == 0 ? Int64(pick(4_000)) : Int64(pick(60)))
        }
        settle(isFault: (40..<70).contains(sort) || (76..<80).contains(sort))
        if isExact || pick(4) == 0 { takeEffects() }
        return input
    }

    /// What an input ended is known before the next one.
    private func settle(isFault: Bool = false) {
        observer.left(table.allProviders(), isFault: isFault, at: now)
        table.takeEnds(into: &batch)
        for effect in batch { observer.take(effect, at: now) }
    }

    /// Nobody is heard any more: everything must end.
    func end() {
        _ = pass(70_000)
    }

    private func request() -> String {
        let control = SlotRef(slot: UInt32(pick(60)), generation: 1)
        jobs += 1
        let purpose: ProviderTable.Purpose =
            switch pick(8) {
            case 0: .question(jobs)
            case 1...3: .perform(control)
            default: .value(control)
            }
        guard observer.open[.value(control)] == nil, observer.open[.perform(control)] == nil else {
            return "nothing"
        }
        let (kind, within) = (UInt32(pick(3)), Int64(10 + pick(1_000)))
        let result = table.request(purpose, kind: kind, within: within, at: now)
        observer.requested(purpose, kind: kind, within: within, result, at: now)
        return "request \(purpose)"
    }

    private func answer() -> String {
        let candidates = observer.open.filter { $0.value.isInFlight }.sorted { $0.value.number < $1.value.number }
        guard !candidates.isEmpty, let last = candidates[pick(candidates.count)].value.sent.last,
            let provider = observer.providers[last.to]
        else { return "nothing" }
        return tell(provider.id, provider.peer, last.id)
    }

    /// Any call, also one that is over or never was, from anybody.
    private func answerAnything() -> String {
        let recent = observer.history.suffix(200)
        let call = recent.isEmpty || pick(20) == 0 ? CallID(random.next()) : Array(recent)[pick(recent.count)]
        let id = id(pick(6))
        let known = observer.provider(id).flatMap { observer.providers[$0]?.peer }
        return tell(id, pick(10) == 0 ? [9, 9] : known ?? [1], call)
    }

    private func tell(_ id: EntityID, _ peer: [UInt8], _ call: CallID) -> String {
        let verdict: ProviderTable.Verdict
        let sort = pick(20)
        switch sort {
        case 0..<6:
            let reason = sort % 2 == 0 ? Array("\"db down\"".utf8) : []
            verdict = table.failed(by: id, peer: peer, call: call, isRetryable: sort < 4, reason: reason, at: now)
        case 6: verdict = table.rejected(by: id, peer: peer, call: call, at: now)
        default: verdict = table.answered(by: id, peer: peer, call: call, at: now)
        }
        observer.told(id, peer: peer, call, isEnd: sort > 6, verdict, at: now)
        return "\(sort < 6 ? "fail" : sort == 6 ? "reject" : "answer") \(call): \(verdict)"
    }

    private func cancel() -> String {
        let control = SlotRef(slot: UInt32(pick(60)), generation: 1)
        let purpose: ProviderTable.Purpose = pick(2) == 0 ? .value(control) : .perform(control)
        let result = table.cancel(purpose, .superseded, at: now)
        observer.cancelled(purpose, result, at: now)
        return "cancel \(purpose)"
    }

    private func register() -> String {
        let id = id(pick(6))
        let known = observer.provider(id)
        let peer: [UInt8]
        if let known, pick(4) != 0, let same = observer.providers[known]?.peer {
            peer = same
        } else {
            peer = [UInt8(pick(200)), UInt8(pick(200))]
        }
        let kinds = (0..<3 as Range<UInt32>).filter { _ in pick(3) != 0 }
        let capacity = 1 + pick(5)
        switch table.register(id, peer: peer, kinds: kinds, capacity: capacity, at: now) {
        case .registered(let reference), .again(let reference):
            observer.registered(reference, id, peer: peer, kinds: Set(kinds), capacity: capacity, at: now)
        case .refused(let refusal):
            observer.refused(refusal, id, peer: peer, kinds: kinds.count, at: now)
            let kept = known.flatMap { table.statistics(of: $0) }
            if let kept, Set(kept.kinds) != known.flatMap({ observer.providers[$0]?.kinds }) {
                Issue.record("\(id) was refused, and is another now")
            }
            return "refused \(id)"
        }
        return "register \(id)"
    }

    private func goAway() -> String {
        let id = id(pick(6))
        guard let reference = observer.provider(id), let peer = observer.providers[reference]?.peer else {
            return "nothing"
        }
        switch pick(3) {
        case 0:
            _ = table.drain(id, peer: peer, at: now)
            observer.drained(reference)
            return "drain \(id)"
        case 1:
            _ = table.leave(id, peer: peer, at: now)
            return "leave \(id)"
        default:
            table.unreachable(peer, at: now)
            return "unreachable \(id)"
        }
    }

    /// Lets time pass, from one thing that is due to the next, and hears some of the providers.
    private func pass(_ span: Milliseconds) -> String {
        let end = now + span
        takeEffects()
        while let due = table.nextWork(), due <= end {
            now = max(now, due)
            table.advance(to: now)
            takeEffects()
        }
        now = end
        while table.advance(to: now) { takeEffects() }
        takeEffects()
        if span < 70_000 {
            for provider in observer.providers.values where provider.id.low % 3 != 0 {
                table.heard(from: provider.peer, at: now)
            }
        }
        observer.judgeRest(at: now) { table.statistics(of: $0)?.state == .live }
        return "pass \(span)"
    }

    /// Does what there is to do. Now and then a connection turns out to be gone.
    private func takeEffects() {
        observer.left(table.allProviders(), isFault: false, at: now)
        while table.hasEffects {
            table.takeEffects(into: &batch)
            let effects = batch
            for effect in effects {
                guard case .send(let call, let provider, _, _, _) = effect else {
                    observer.take(effect, at: now)
                    continue
                }
                guard table.isInFlight(call) else {
                    stale += 1
                    continue
                }
                if pick(100) == 0, let peer = table.peer(of: provider) {
                    unreachable += 1
                    table.unreachable(peer, at: now)
                    observer.left(table.allProviders(), isFault: false, at: now)
                } else {
                    table.delivered(call)
                    observer.take(effect, at: now)
                }
            }
        }
        observer.turnEnded()
    }

    private func id(_ number: Int) -> EntityID { EntityID(high: 1, low: UInt64(number)) }

    private func pick(_ count: Int) -> Int { Int.random(in: 0..<count, using: &random) }
}
