import IsletCore
import Testing

/// Someone who knows the engine only by its events: what the contract promises of the stream is checked on each, and
/// the numbers that the engine says of itself are computed once more from what the events told.
final class Follower {
    private struct Copy {
        var topic: String
        var app: String
        var state: ActivityState
        var revision: UInt64
    }

    private var copies: [EntityID: Copy] = [:]
    private var seqs: [String: UInt64] = [:]
    private var lastAt: Instant?
    /// App and type of the present start.
    private var expected: (id: EntityID, app: String, type: String)?
    private var homes: [EntityID: (app: String, type: String)] = [:]
    private var lastRenewed: (app: String, type: String)?
    /// Whether `at` must never fall; it may where deadlines are dated by themselves beside commands.
    var expectsRisingDates = true

    /// A start that may come.
    func expect(_ id: EntityID, app: String, type: String) { expected = (id, app, type) }

    func follow(_ events: [ActivityEvent], _ engine: borrowing Engine) {
        for event in events { follow(event, engine) }
    }

    private func follow(_ event: ActivityEvent, _ engine: borrowing Engine) {
        let copy = copies[event.id]
        if event.rule == .renewed { lastRenewed = homes[event.id] }
        if event.before == nil {
            if event.after.cause == .renewal {
                homes[event.id] = lastRenewed
            } else if let expected, expected.id == event.id {
                homes[event.id] = (expected.app, expected.type)
            }
        }
        guard let home = homes[event.id] else {
            Issue.record("\(event.line): nobody started it")
            return
        }
        #expect(String(decoding: engine.apps[event.app].name, as: UTF8.self) == home.app, "\(event.line)")
        let seq = (seqs[home.app] ?? 0) + 1
        #expect(event.seq == seq, "\(event.line): the sequence of \(home.app) has a gap")
        seqs[home.app] = event.seq
        #expect(UInt64(event.revision) == (copy?.revision ?? 0) + 1, "\(event.line): its revisions have a gap")
        #expect(
            event.before?.state == copy?.state, "\(event.line): it was \(copy.map { "\($0.state)" } ?? "not there")")
        if expectsRisingDates, let lastAt { #expect(event.at >= lastAt, "\(event.line)") }
        lastAt = event.at
        if let lateBy = event.lateBy { #expect(lateBy >= 0, "\(event.line)") }
        copies[event.id] = Copy(
            topic: "\(home.app)/activity/\(home.type)/\(event.id)", app: home.app, state: event.after.state,
            revision: UInt64(event.revision))
    }

    /// Compares digest, entities and counts with what the events told.
    func check(_ engine: borrowing Engine) {
        var digests: [String: UInt64] = [:]
        var entities: [String: Int] = [:]
        var states = [0, 0, 0, 0, 0]
        for (id, copy) in copies {
            if copy.state == .dismissed {
                if let slot = engine.slot(of: id), engine.record(at: slot).map({ !$0.isKeyOnly }) ?? false {
                    states[4] += 1
                } else {
                    copies[id] = nil
                    homes[id] = nil
                }
                continue
            }
            digests[copy.app, default: 0] ^= NaiveDigest.share(topic: copy.topic, revision: copy.revision)
            entities[copy.app, default: 0] += 1
            states[Int(copy.state.rawValue)] += 1
        }
        for app in engine.apps.apps {
            let name = String(decoding: app.name, as: UTF8.self)
            #expect(app.seq == seqs[name] ?? 0, "\(name)")
            #expect(app.digest.value == digests[name] ?? 0, "\(name)")
            #expect(app.entities == entities[name] ?? 0, "\(name)")
        }
        #expect(engine.entityCount == entities.values.reduce(0, +))
        #expect(engine.countByState == states)
        #expect(engine.armedTimers <= engine.entityCount, "only listed ones wait for something")
    }

    /// The digest over the listed entities whose topics begin with a prefix, and how many they are.
    func digest(_ app: String, prefix: String) -> (entities: Int, value: UInt64) {
        var result = (entities: 0, value: UInt64(0))
        for copy in copies.values where copy.app == app && copy.state != .dismissed && copy.topic.hasPrefix(prefix) {
            result.entities += 1
            result.value ^= NaiveDigest.share(topic: copy.topic, revision: copy.revision)
        }
        return result
    }
}
