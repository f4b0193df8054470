import IsletCore
import Testing

@Suite("Presentation")
struct PresentationTests {
    /// One that started at a second, as the `started`th.
    private static func candidate(
        slot: Slot, state: ActivityState, relevanceScore: Double, started: Int64, ordinal: UInt64 = 0
    ) -> Presentation.Candidate {
        Presentation.Candidate(
            slot: slot, state: state, relevanceScore: relevanceScore, startedAt: EngineRig.start + started * 1_000,
            ordinal: ordinal)
    }

    private static func shown(_ candidates: [Presentation.Candidate]) -> [String] {
        Presentation.order(candidates).map { shown in
            let island =
                switch shown.dynamicIsland {
                case .compact: " compact"
                case .minimal: " minimal"
                case nil: ""
                }
            return "\(shown.slot): \(shown.lockScreen.map(String.init) ?? "-")\(island)"
        }
    }

    @Test("the most relevant first; of equals the one that started first")
    func order() {
        #expect(
            Self.shown([
                Self.candidate(slot: 1, state: .active, relevanceScore: 0, started: 9),
                Self.candidate(slot: 2, state: .active, relevanceScore: 100, started: 8),
                Self.candidate(slot: 3, state: .stale, relevanceScore: 0, started: 3),
                Self.candidate(slot: 4, state: .active, relevanceScore: -1, started: 1),
            ]) == ["2: 1 minimal", "3: 2 minimal", "1: 3", "4: 4"])
    }

    @Test("one alone is compact; ended ones are on the Lock Screen only, pending ones nowhere and last")
    func compact() {
        #expect(
            Self.shown([
                Self.candidate(slot: 1, state: .pending, relevanceScore: 500, started: 1),
                Self.candidate(slot: 2, state: .ended, relevanceScore: 50, started: 2),
                Self.candidate(slot: 3, state: .active, relevanceScore: 5, started: 3),
            ]) == ["2: 1", "3: 2 compact", "1: -"])
    }

    @Test("nothing shows nothing; only ended ones leave the Dynamic Island empty")
    func empty() {
        #expect(Self.shown([]).isEmpty)
        #expect(Self.shown([Self.candidate(slot: 1, state: .ended, relevanceScore: 0, started: 1)]) == ["1: 1"])
    }

    @Test("of those of one instant, the one that was started first; the date counts more than the order")
    func oneInstant() {
        #expect(
            Self.shown([
                Self.candidate(slot: 1, state: .active, relevanceScore: 0, started: 5, ordinal: 2),
                Self.candidate(slot: 2, state: .active, relevanceScore: 0, started: 5, ordinal: 1),
                Self.candidate(slot: 3, state: .active, relevanceScore: 0, started: 4, ordinal: 3),
            ]) == ["3: 1 minimal", "2: 2 minimal", "1: 3"])
    }

    @Test("zero and minus zero are one score")
    func zeros() {
        #expect(
            Self.shown([
                Self.candidate(slot: 1, state: .active, relevanceScore: -0.0, started: 1),
                Self.candidate(slot: 2, state: .active, relevanceScore: 0.0, started: 2),
            ]) == ["1: 1 minimal", "2: 2 minimal"])
    }
}
