/// The digest over the listed entities of an app whose topics begin with a prefix, computed over several turns.
///
/// Changes of entities that the scan has passed are put in as they happen, so at its end it is the digest of that very
/// moment, however long it took.
package struct DigestScan: Sendable {
    package let app: AppID
    package let prefix: [UInt8]
    package private(set) var entities = 0
    package private(set) var digest = Digest()
    /// The next place to look at.
    var next = EntityPlace(.activity, 0)
    let number: Int

    init(number: Int, app: AppID, prefix: [UInt8]) {
        self.number = number
        self.app = app
        self.prefix = prefix
    }

    mutating func toggle(_ topicHash: TopicHash, _ revision: UInt64, isAdded: Bool) {
        digest.toggle(topicHash: topicHash, revision: revision)
        entities += isAdded ? 1 : -1
    }
}

extension Engine {
    /// At most this many digests are computed at a time.
    package static let maximumDigestScans = 16
    /// How many slots a digest scan looks at in a turn.
    static let digestBudget = 16_384

    /// Begins a scan; nil where there is no room for another.
    package mutating func beginDigest(_ number: Int, app: AppID, prefix: [UInt8]) -> Bool {
        guard digestScans.count < Engine.maximumDigestScans else { return false }
        digestScans.append(DigestScan(number: number, app: app, prefix: prefix))
        return true
    }

    /// Goes on with a scan; the result once it is through.
    package mutating func continueDigest(_ number: Int) -> DigestScan? {
        guard let index = digestScans.firstIndex(where: { $0.number == number }) else { return nil }
        var scan = digestScans[index]
        var budget = Engine.digestBudget
        while budget > 0, let place = place(from: scan.next) {
            if isListed(at: place, app: scan.app, prefix: scan.prefix) {
                let part = digestPart(at: place)
                scan.toggle(part.topicHash, part.revision, isAdded: true)
            }
            scan.next = EntityPlace(place.family, place.slot + 1)
            budget -= 1
        }
        guard place(from: scan.next) == nil else {
            digestScans[index] = scan
            return nil
        }
        digestScans.remove(at: index)
        return scan
    }

    /// Gives up a scan, if it still runs.
    package mutating func cancelDigest(_ number: Int) {
        digestScans.removeAll { $0.number == number }
    }

    /// Whether an activity's topic begins with a prefix.
    package func topic(of record: ActivityRecord, hasPrefix prefix: [UInt8]) -> Bool {
        topic(apps.kinds[Int(record.kind)].topicPrefix, record.id, hasPrefix: prefix)
    }

    /// Whether the topic of an entity, which is `known` and its id, begins with a prefix.
    package func topic(_ known: [UInt8], _ id: EntityID, hasPrefix prefix: [UInt8]) -> Bool {
        if prefix.count <= known.count { return known.starts(with: prefix) }
        guard prefix.starts(with: known) else { return false }
        var position = known.count
        var matches = true
        id.forEachTextByte { byte in
            if position < prefix.count, prefix[position] != byte { matches = false }
            position += 1
        }
        return matches && prefix.count <= position
    }

    /// An entity at a revision was put into its app's digest or taken out of it. It is still, or already, in its place.
    mutating func changedDuringScans(
        _ topicHash: TopicHash, _ revision: UInt64, _ app: AppID, _ place: EntityPlace, isAdded: Bool
    ) {
        for index in digestScans.indices where digestScans[index].app == app && place < digestScans[index].next {
            guard topic(at: place, hasPrefix: digestScans[index].prefix) else { continue }
            digestScans[index].toggle(topicHash, revision, isAdded: isAdded)
        }
    }
}
