import IsletOracle
import Testing

/// Until when the oracle takes an id to be taken.
@Suite struct TakenIDTests {
    private static let at: Int64 = 1_790_000_000_000
    private static let retention: Int64 = 60_000

    private func oracle(mute: Int64?) -> Oracle {
        var rules = OracleRules()
        rules.retention = Self.retention
        rules.mute = mute
        return Oracle(rules, now: Self.at)
    }

    private func isAccepted(_ operation: OracleCommand.Operation, _ oracle: Oracle, app: String = "de.sport") -> Bool {
        oracle.execute(OracleCommand(app: app, operation), bytes: [], isExpired: false).expectation.isAccepted
    }

    private func start(key: String?) -> OracleCommand.Operation {
        var start = OracleCommand.Start()
        start.id = "aaaaaaaa-0000-4000-8000-000000000008"
        start.key = key
        return .start(start)
    }

    private func pass(to time: Int64, _ oracle: Oracle) {
        _ = oracle.look(at: time)
        oracle.forgetRetained()
    }

    /// One is started, with a key or without, and dismissed at once; it is forgotten when its retention is over.
    private func forgotten(key: String?, by: String, mute: Int64?) -> Oracle {
        let oracle = oracle(mute: mute)
        #expect(isAccepted(start(key: key), oracle))
        #expect(isAccepted(.dismiss(.id("aaaaaaaa-0000-4000-8000-000000000008"), by: by), oracle))
        pass(to: Self.at + Self.retention - 1, oracle)
        #expect(!isAccepted(start(key: "other"), oracle), "it is retained")
        pass(to: Self.at + Self.retention, oracle)
        return oracle
    }

    @Test func anIdIsTakenForAsLongAsTheKeyOfItsActivityIsMuted() {
        let oracle = forgotten(key: "home", by: "person", mute: 2 * Self.retention)
        #expect(!isAccepted(start(key: "other"), oracle))
        #expect(!isAccepted(start(key: "other"), oracle, app: "com.example.pizza"), "ids are of all apps")
        pass(to: Self.at + 2 * Self.retention - 1, oracle)
        #expect(!isAccepted(start(key: "other"), oracle))
        pass(to: Self.at + 2 * Self.retention, oracle)
        #expect(isAccepted(start(key: "other"), oracle))
    }

    @Test(
        "where nothing is muted, an id is free with the end of the retention",
        arguments: [
            ("home", "person", nil), ("home", "system", 120_000), (nil, "person", 120_000),
        ] as [(String?, String, Int64?)])
    func free(key: String?, by: String, mute: Int64?) {
        #expect(isAccepted(start(key: "other"), forgotten(key: key, by: by, mute: mute)))
    }
}
