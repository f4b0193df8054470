import IsletOracle
import IsletServer

/// `bulk.digest`: of apps, and of what stands under a prefix.
extension Simulation {
    /// A question, and whether nothing happens any more when it is asked.
    struct AwaitedDigest {
        var app: String
        var prefix: String
        var isAtRest: Bool
    }

    /// The digests of each app and of parts of it, one app after another.
    func compareDigests() throws {
        for app in CommandMaker.apps.prefix(mix.apps) {
            for prefix in prefixes(app) { askForDigest(app, prefix, isAtRest: true) }
            for _ in 0..<100 where !awaitedDigests.isEmpty { try turn() }
            expect(awaitedDigests.isEmpty, "digests never came: \(awaitedDigests.values)")
            try stopIfWrong()
        }
    }

    /// A digest while things happen: it is that of the place in the stream that it names.
    func askForAnyDigest() {
        guard awaitedDigests.isEmpty, !isDiskFull else { return }
        let app = CommandMaker.apps[random.below(mix.apps)]
        askForDigest(app, random.pick(prefixes(app)) ?? "", isAtRest: false)
    }

    /// All, a family, what begins like a kind, one entity, and what ends within its id.
    private func prefixes(_ app: String) -> [String] {
        let topics = ledger.stand(app, at: ledger.seq(app)).revisions.keys.sorted()
        let one = topics.isEmpty ? [] : [topics[tally.turns % topics.count]]
        let some = ["", "\(app)/activity/", "\(app)/control/Do", "\(app)/widget/", "\(app)/group/g"]
        return some + one + one.map { String($0.dropLast(3)) }
    }

    private func askForDigest(_ app: String, _ prefix: String, isAtRest: Bool) {
        digestQuestions &+= 1
        awaitedDigests[digestQuestions] = AwaitedDigest(app: app, prefix: prefix, isAtRest: isAtRest)
        let field = prefix.isEmpty ? "" : ",\"prefix\":\"\(prefix)\""
        partition.inbound.set(
            [
                Array("digest".utf8), [0, 0, 0, digestQuestions], [],
                Array("{\"op\":\"bulk.digest\",\"req\":\"d\",\"app\":\"\(app)\"\(field)}".utf8),
            ], isRouted: true)
        partition.takeBulk()
    }

    /// What the models say, each of its own family.
    private func ownStand(_ app: String) -> (entities: Int, digest: String) {
        var revisions = oracle.listedRevisions(app)
        for (topic, control) in witness.listed(app) { revisions[topic] = control.revision }
        for (topic, widget) in widgetWitness.listed(app) { revisions[topic] = widget.revision }
        var digest = StreamDigest()
        for (topic, revision) in revisions { digest.toggle(topic: topic, revision: revision) }
        return (revisions.count, digest.text)
    }

    func digestAnswered(_ frames: [[UInt8]]) {
        guard let asked = awaitedDigests.removeValue(forKey: frames[1][3]), let bytes = frames.last,
            let value = JSON(bytes)
        else { return expect(false, "a digest that nobody asked for") }
        if !asked.isAtRest, value["error"]?["detail"]?["reason"] == .string("diskFull") { return }
        tally.digests += 1
        let seq = Int(value["seq"]?.integer ?? -1)
        let stand = ledger.stand(asked.app, at: seq).under(asked.prefix)
        let isKnown =
            value["entities"] == .integer(Int64(stand.revisions.count)) && value["digest"] == .string(stand.digest)
        expect(
            isKnown && seq <= ledger.published[asked.app]?.seq ?? 0,
            "\(asked) is \(value.text) and should be \(stand.revisions.count) \(stand.digest)")
        guard asked.isAtRest else { return }
        expect(
            ledger.activities(asked.app, through: seq) == oracle.seq(asked.app),
            "\(asked) at \(seq), which is not where the oracle is")
        guard asked.prefix.isEmpty else { return }
        let own = ownStand(asked.app)
        expect(own == (stand.revisions.count, stand.digest), "the oracle's digest of \(asked.app) is \(own)")
    }
}
