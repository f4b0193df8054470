import IsletOracle

/// Every event that was handed to the journal, by app and in order, and how far each stream was published.
struct Ledger {
    struct Line {
        var topic: [UInt8]
        var json: [UInt8]
        var batch: UInt64
        /// nil: a control's, a widget's, or a group's.
        var handle: Handle?
        var revision: Int
        var isListed: Bool
        var isOfGroup = false
        /// How many events of activities the stream has up to here.
        var activities = 0
        /// The same of groups.
        var groupEvents = 0
        /// Where it stands among the events of all apps.
        var place = 0
        /// When it was published, in real milliseconds.
        var publishedAt: Int64?
    }

    /// A stream as its subscribers know it.
    struct Stand {
        var seq = 0
        var revisions: [String: Int] = [:]

        mutating func apply(_ line: Line) {
            seq += 1
            revisions[String(decoding: line.topic, as: UTF8.self)] = line.isListed ? line.revision : nil
        }

        /// What of it stands under topics that begin so.
        func under(_ prefix: String) -> Stand {
            Stand(seq: seq, revisions: revisions.filter { $0.key.hasPrefix(prefix) })
        }

        var digest: String {
            var digest = StreamDigest()
            for (topic, revision) in revisions { digest.toggle(topic: topic, revision: revision) }
            return digest.text
        }
    }

    private(set) var lines: [String: [Line]] = [:]
    private(set) var published: [String: Stand] = [:]
    private var places = 0

    func line(_ app: String, _ seq: Int) -> Line? {
        guard let lines = lines[app], seq > 0, seq <= lines.count else { return nil }
        return lines[seq - 1]
    }

    func lines(of handle: Handle, app: String) -> [Line] { (lines[app] ?? []).filter { $0.handle == handle } }

    /// Which revision an activity had at a place in its app's stream; nil before its first event.
    func revision(of handle: Handle, _ app: String, through seq: Int) -> Int? {
        (lines[app] ?? []).prefix(seq).last { $0.handle == handle }?.revision
    }

    /// The events of what stands last under a topic, from its first on.
    func history(of topic: String, _ app: String) -> [Line] {
        let bytes = Array(topic.utf8)
        let all = (lines[app] ?? []).filter { $0.topic == bytes }
        return all.lastIndex { $0.revision == 1 }.map { Array(all[$0...]) } ?? all
    }

    func seq(_ app: String) -> Int { lines[app]?.count ?? 0 }

    mutating func append(_ line: Line, _ app: String) {
        var line = line
        places += 1
        line.place = places
        line.activities = activities(app, through: seq(app)) + (line.handle == nil ? 0 : 1)
        line.groupEvents = groupEvents(app, through: seq(app)) + (line.isOfGroup ? 1 : 0)
        lines[app, default: []].append(line)
    }

    /// The events of controls and widgets of all apps, in the order in which they were handed over.
    var ofControls: [Line] {
        lines.values.joined().filter { $0.handle == nil && !$0.isOfGroup }.sorted { $0.place < $1.place }
    }

    /// How many of an app's events up to a sequence number are of activities.
    func activities(_ app: String, through seq: Int) -> Int { line(app, seq)?.activities ?? 0 }

    /// How many are of groups.
    func groupEvents(_ app: String, through seq: Int) -> Int { line(app, seq)?.groupEvents ?? 0 }

    /// The stream's stand at a sequence number.
    func stand(_ app: String, at seq: Int) -> Stand {
        var stand = Stand()
        for line in (lines[app] ?? []).prefix(seq) { stand.apply(line) }
        return stand
    }

    mutating func publish(_ app: String, at time: Int64) {
        let seq = (published[app]?.seq ?? 0) + 1
        guard let line = line(app, seq) else { return }
        lines[app]?[seq - 1].publishedAt = time
        published[app, default: Stand()].apply(line)
    }

    /// After a crash: what came after this batch is gone, and what is kept counts as published, because the next join
    /// names it.
    mutating func cut(after batch: UInt64) {
        for app in lines.keys {
            lines[app]?.removeAll { $0.batch > batch }
            var stand = Stand()
            for line in lines[app] ?? [] { stand.apply(line) }
            published[app] = stand
        }
    }
}
