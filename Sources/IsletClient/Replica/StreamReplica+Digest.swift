/// How a filtered replica notices what it missed: other events are not sent to it, so that numbers show it no gap.
extension StreamReplica {
    /// Compares digests where the stream has moved, or is not known to agree.
    package mutating func checkDue() -> [ReplicaEffect] {
        isCheckDue = false
        guard let prefix, !isPaused else { return [] }
        guard state == .following else {
            isCheckDue = true
            return []
        }
        guard epoch != nil, seq != checkedSeq, trail == nil else { return [] }
        trail = DigestTrail(here)
        return [.digest(app: app, prefix: prefix)]
    }

    /// The answer to `bulk.digest`, which comes by another connection than the events: it is compared with what held at
    /// the very position that it speaks of.
    package mutating func received(digest: Watermark) -> [ReplicaEffect] {
        guard let trail else { return [] }
        self.trail = nil
        if let epoch, digest.position.epoch != epoch { return rejoin(keeping: nil) }
        if digest.position.seq >= seq {
            pendingDigest = digest
            return digest.position.seq == seq ? compareDigest(before: seq + 1) : []
        }
        // Events have overtaken it.
        guard let held = trail.held(at: digest.position.seq) else {
            isCheckDue = true
            return []
        }
        guard held.agrees(with: digest) else { return requestSnapshot(reason: .inconsistent) }
        checkedSeq = digest.position.seq
        return []
    }

    /// The digest that was asked for does not come: lost, or refused.
    package mutating func digestFailed(_ error: ServiceError?) -> [ReplicaEffect] {
        guard trail != nil else { return [] }
        trail = nil
        if let error, error.isForGood { return [.fail(.refused(error))] }
        isCheckDue = true
        return []
    }

    /// Compares a digest that waits, if its position is before `next`, and so the present one.
    mutating func compareDigest(before next: UInt64) -> [ReplicaEffect] {
        guard let digest = pendingDigest, digest.position.seq < next else { return [] }
        pendingDigest = nil
        guard entities.agrees(entities: digest.entities, digest: digest.digest) else {
            return requestSnapshot(reason: .inconsistent)
        }
        checkedSeq = digest.position.seq
        return []
    }

    /// What was asked for, or has come and waits for its position, is of no use any more.
    mutating func forgetDigests() {
        if trail != nil { isCheckDue = true }
        trail = nil
        pendingDigest = nil
    }

    /// What holds now.
    var here: DigestTrail.Point {
        DigestTrail.Point(seq: seq, entities: entities.count, digest: entities.digest)
    }
}

/// What a filtered replica held at each of its positions since it asked for a digest.
///
/// It is bounded. Beyond that it forgets the older half, and a digest of a position in there is asked for again.
package struct DigestTrail: Sendable, Hashable {
    /// How many positions are remembered.
    package static let maximumCount = 65_536

    /// What was held at one position.
    package struct Point: Sendable, Hashable {
        package var seq: UInt64
        package var entities: Int
        package var digest: UInt64

        package init(seq: UInt64, entities: Int, digest: UInt64) {
            self.seq = seq
            self.entities = entities
            self.digest = digest
        }

        func agrees(with mark: Watermark) -> Bool {
            entities == mark.entities && (mark.digest.map { $0 == digest } ?? true)
        }
    }

    /// In the order of their positions.
    private var points: [Point]

    package init(_ point: Point) {
        points = [point]
    }

    package mutating func append(_ point: Point) {
        if points.count >= Self.maximumCount { points.removeFirst(Self.maximumCount / 2) }
        points.append(point)
    }

    /// What was held at a position, which may lie between two events; nil where it is not known any more.
    package func held(at seq: UInt64) -> Point? {
        points.last { $0.seq <= seq }
    }
}
