/// What a crash does: the order is cut, and what was after the cut has not happened.
extension Oracle {
    /// Everything from this place on has not happened.
    ///
    /// - Returns: the pairs of client and `req` whose commands have not happened, as often as that.
    package func cut(from place: Int) -> [(client: String, req: String)] {
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
        locks.removeAll { $0.order >= place }
        groupBook.cut(from: place)
        tellings = []
        conditions.removeAll { $0.order >= place }
        order = max(place, order)
        lastEffect = min(lastEffect, place)
        var lost: [(client: String, req: String)] = []
        for key in memories.keys {
            while let memory = memories[key], memory.order >= place {
                lost.append((key.client, key.req))
                memories[key] = earlierMemories[key]?.popLast()
            }
        }
        return lost
    }

    /// Answers stand in a batch: a restarted service remembers them from its date.
    package func redateAnswers(from first: Int, to end: Int, at time: Int64) {
        for (key, memory) in memories where memory.order >= first && memory.order < end {
            memories[key]?.batchAt = time
        }
        for (key, earlier) in earlierMemories {
            for (index, memory) in earlier.enumerated() where memory.order >= first && memory.order < end {
                earlierMemories[key]?[index].batchAt = time
            }
        }
    }

    /// A new process starts at this domain time.
    ///
    /// What was to be remembered when the last one ended is so for as long again; where the end is known to have been
    /// earlier than the last one came, what was forgotten since is known again.
    ///
    /// - Parameters:
    ///   - last: where the disk says that time was.
    ///   - hold: what of it is durable.
    package func restart(at time: Int64, after last: Int64, hold: Hold) {
        now = time
        hear(at: time)
        self.hold = hold
        forgottenNumbers = prunedNumbers
        for (key, memory) in memories {
            var known = memory
            known.at = memory.batchAt ?? memory.at
            known.isForgotten = isOver(known, at: min(now, last), hold)
            memories[key] = known
        }
        for (key, memory) in memories where memory.isForgotten { forgetNumber(of: key) }
        guard now > last else { return }
        let after = last - rules.remembers
        self.hold.after = hold.until > last ? min(hold.after, after) : after
        self.hold.until = now + rules.remembers
    }

    func forgetNumber(of key: MemoryKey) {
        guard let number = Self.number(key.req) else { return }
        let name = key.client + Self.stem(key.req)
        forgottenNumbers[name] = max(forgottenNumbers[name] ?? -1, number)
        everForgotten[name] = max(everForgotten[name] ?? -1, number)
    }

    /// Lets go of what can never matter again: forgotten activities whose end is durable.
    ///
    /// - Parameters:
    ///   - place: everything before it is durable.
    ///   - clock: domain time that is durable.
    ///   - hold: which answers a start remembers for longer.
    package func prune(before place: Int, clock: Int64, hold: Hold) {
        handles.removeAll { handle in
            guard let citizen = citizens[handle], citizen.isForgotten, let when = citizen.life.dismissedWhen,
                when + max(rules.retention, rules.mute ?? 0) <= clock, citizen.entries.allSatisfy({ $0.order < place })
            else { return false }
            baseSeqs[citizen.birth.app, default: 0] += citizen.life.passages.count
            citizens[handle] = nil
            prunedRenewals[handle] = citizen.birth.renews
            return true
        }
        let over = memories.filter { entry in
            var read = entry.value
            guard read.isForgotten, let at = read.batchAt else { return false }
            read.at = at
            return isOver(read, at: clock, hold)
        }.keys
        for key in over {
            memories[key] = nil
            earlierMemories[key] = nil
            guard let number = Self.number(key.req) else { continue }
            let name = key.client + Self.stem(key.req)
            prunedNumbers[name] = max(prunedNumbers[name] ?? -1, number)
        }
    }
}
