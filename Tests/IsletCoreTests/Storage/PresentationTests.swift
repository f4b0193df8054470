import IsletCore
import Testing

@Suite("Presentation")
struct PresentationTests {
    private typealias Candidate = Presentation.Candidate

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
                Candidate(slot: 1, state: .active, relevanceScore: 0, ordinal: 9),
                Candidate(slot: 2, state: .active, relevanceScore: 100, ordinal: 8),
                Candidate(slot: 3, state: .stale, relevanceScore: 0, ordinal: 3),
                Candidate(slot: 4, state: .active, relevanceScore: -1, ordinal: 1),
            ]) == ["2: 1 minimal", "3: 2 minimal", "1: 3", "4: 4"])
    }

    @Test("one alone is compact; ended ones are on the Lock Screen only, pending ones nowhere and last")
    func compact() {
        #expect(
            Self.shown([
                Candidate(slot: 1, state: .pending, relevanceScore: 500, ordinal: 1),
                Candidate(slot: 2, state: .ended, relevanceScore: 50, ordinal: 2),
                Candidate(slot: 3, state: .active, relevanceScore: 5, ordinal: 3),
            ]) == ["2: 1", "3: 2 compact", "1: -"])
    }

    @Test("nothing shows nothing; only ended ones leave the Dynamic Island empty")
    func empty() {
        #expect(Self.shown([]).isEmpty)
        #expect(Self.shown([Candidate(slot: 1, state: .ended, relevanceScore: 0, ordinal: 1)]) == ["1: 1"])
    }

    @Test("zero and minus zero are one score")
    func zeros() {
        #expect(
            Self.shown([
                Candidate(slot: 1, state: .active, relevanceScore: -0.0, ordinal: 1),
                Candidate(slot: 2, state: .active, relevanceScore: 0.0, ordinal: 2),
            ]) == ["1: 1 minimal", "2: 2 minimal"])
    }
}
