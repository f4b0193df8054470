/// What a crash does: the order is cut, and what was after the cut has not happened.
extension Oracle {
    /// Everything from this place on has not happened.
    ///
    /// - Parameter time: domain time after the restart.
    package func cut(from place: Int) {
        handles.removeAll { handle in
            guard let citizen = citizens[handle], citizen.order >= place else { return false }
            citizens[handle] = nil
            ids[handle] = nil
            return true
        }
        seqs = baseSeqs
        for handle in handles {
            guard var citizen = citizens[handle] else { continue }
            citizen.entries.removeAll { $0.order >= place }
            citizen.life = Life(citizen.birth, citizen.entries, bornAt: citizen.bornAt, rules)
            citizen.isForgotten = false
            citizens[handle] = citizen
            seqs[citizen.birth.app, default: 0] += citizen.life.passages.count
        }
        switches.removeAll { $0.order >= place }
        backgrounds.removeAll { $0.order >= place }
        memories = memories.filter { $0.value.order < place }
        order = max(place, order)
        lastEffect = min(lastEffect, place)
    }

    /// A new process starts at this domain time.
    package func restart(at time: Int64) { now = time }

    /// Lets go of what can never matter again: forgotten activities whose end is durable.
    ///
    /// - Parameters:
    ///   - place: everything before it is durable.
    ///   - clock: domain time that is durable.
    package func prune(before place: Int, clock: Int64) {
        handles.removeAll { handle in
            guard let citizen = citizens[handle], citizen.isForgotten, let when = citizen.life.dismissedWhen,
                when + rules.retention <= clock, citizen.entries.allSatisfy({ $0.order < place })
            else { return false }
            baseSeqs[citizen.birth.app, default: 0] += citizen.life.passages.count
            citizens[handle] = nil
            return true
        }
    }
}
