/// How a filtered replica notices what it missed: other events are not sent to it, so that numbers show it no gap.
extension StreamReplica {
    /// Half a minute has passed: compares digests where the stream has moved.
    package mutating func checkDue() -> [ReplicaEffect] {
        guard state == .following, let prefix, seq != checkedSeq else { return [] }
        checkedSeq = seq
        return [.digest(app: app, prefix: prefix)]
    }

    /// The answer to `bulk.digest`, which comes by another connection than the events: it can be compared only at the
    /// very position that it speaks of.
    package mutating func received(digest: Watermark) -> [ReplicaEffect] {
        guard state == .following, prefix != nil else { return [] }
        if let epoch, digest.position.epoch != epoch { return rejoin(keeping: nil) }
        guard digest.position.seq >= seq else {
            // The replica is past it already: ask again when the next check is due.
            checkedSeq = 0
            return []
        }
        pendingDigest = digest
        return digest.position.seq == seq ? compareDigest(before: seq + 1) : []
    }

    /// Compares a digest that waits, if its position is before `next`, and so the present one.
    mutating func compareDigest(before next: UInt64) -> [ReplicaEffect] {
        guard let digest = pendingDigest, digest.position.seq < next else { return [] }
        pendingDigest = nil
        guard !entities.agrees(entities: digest.entities, digest: digest.digest) else { return [] }
        return requestSnapshot(reason: .inconsistent)
    }
}
