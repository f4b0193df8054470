import IsletJournal
import IsletOracle

/// The judging of app groups: each event is what the oracle expects next, each answer what it says.
extension Simulation {
    func judgeGroup(
        _ event: JournalBatch.Event, _ topic: [UInt8], _ json: [UInt8], _ value: JSON, in batch: JournalBatch
    ) {
        let text = String(decoding: json, as: UTF8.self)
        log?("  journal \(batch.number): \(text)")
        tally.groupEvents += 1
        tally.hash(json)
        guard !expectedTellings.isEmpty else {
            return expect(false, "an event of a group that nobody expects: \(text)")
        }
        let telling = expectedTellings.removeFirst()
        let app = String(decoding: batch.bytes(batch.rows[event.row].name), as: UTF8.self)
        expect(app == telling.owner, "on the stream of \(app) and not of \(telling.owner): \(text)")
        expect(topic == Array(telling.topic.utf8), "the topic should be \(telling.topic): \(text)")
        var wanted = telling.members
        wanted["epoch"] = .string(String(decoding: epoch, as: UTF8.self))
        wanted["seq"] = .integer(Int64(ledger.seq(app) + 1))
        expect(
            value == .object(wanted), "an event is\n    \(text)\n  and should be\n    \(JSON.object(wanted).text)")
        if let bytes = telling.value { expect(text.contains("\"value\":\(bytes),\"by\":"), "the bytes of \(text)") }
        ledger.append(
            Ledger.Line(
                topic: topic, json: json, batch: batch.number, handle: nil, revision: telling.revision,
                isListed: telling.isListed, isOfGroup: true), app)
    }

    /// Takes the members that are as they should be.
    func compare(
        _ told: inout [String: JSON], _ say: GroupSay, _ text: String, _ complain: (Bool, String) -> Void
    ) {
        guard let seq = told.removeValue(forKey: "seq")?.integer.map({ Int($0) }) else {
            return complain(false, "no seq")
        }
        complain(seq <= ledger.published[say.owner]?.seq ?? 0, "seq \(seq) is not published")
        let events = ledger.groupEvents(say.owner, through: seq)
        complain(events == say.events, "seq \(seq) has \(events) events of groups and should have \(say.events)")
        for (name, wanted) in say.members.sorted(by: { $0.key < $1.key }) {
            complain(told.removeValue(forKey: name) == wanted, "\(name) should be \(wanted.text)")
        }
        for value in say.values { complain(text.contains("\"value\":\(value),\"by\":"), "the bytes of \(value)") }
    }

    /// What reads everything of the groups.
    func groupQueries() -> [SentCommand] {
        oracle.groupOwners.flatMap { group, owner in
            let fields = "\"app\":\"\(owner)\",\"group\":\"\(group)\"}"
            return [
                SentCommand(
                    command: OracleCommand(app: owner, .group(GroupDeed(group, .info))),
                    bytes: Array(("{\"op\":\"group.info\"," + fields).utf8)),
                SentCommand(
                    command: OracleCommand(app: owner, .group(GroupDeed(group, .list(prefix: nil)))),
                    bytes: Array(("{\"op\":\"group.list\"," + fields).utf8)),
            ]
        }
    }
}
