package import IsletCore
package import IsletJournal
import IsletProtocol

/// The end of a turn: commit, then publish and answer.
extension Partition {
    /// Hands the turn's batch to the journal; what it made leaves once that is committed.
    ///
    /// While a batch is in the air, the next one goes on being filled over several turns.
    func commit() {
        // Answers that nobody wanted were written all the same, and nothing else would make room for others.
        outbound.removeUnwanted()
        // What was applied may take room that nothing new gets: as long as it waits, so does the snapshot. A stop gives it up.
        if !flights.isDiskFull || !isStopping {
            while flights.mayDepart, let held = flights.takeHeld() { hand(over: held) }
        }
        if flights.isDiskFull {
            // Nothing stands here since then that shows a change, and what is said of the streams is what is committed of
            // them.
            writeStreamMessages()
            leaveNow()
            // What ends meanwhile is an event or an answer to remember: a provider's call, a backup. It may take the same
            // room as what was held: the snapshot goes on between batches alone, and without it nothing makes room.
            if !isStopping, flights.mayDepart, !batch.isEmpty {
                batch.usesReserve = true
                hand(over: closeFlight())
            }
            return
        }
        guard flights.mayDepart else { return }
        if !batch.isEmpty {
            writeStreamMessages()
            hand(over: closeFlight())
        } else if flights.areLanded {
            // Nothing changed, and what reads show is committed.
            writeStreamMessages()
            leaveNow()
        }
    }

    /// What was written shows nothing that is not committed.
    func leaveNow() {
        if !outbound.isEmpty { flights.land(flights.board(&outbound)) }
    }

    /// Takes the batch and its messages; the next batch begins.
    func closeFlight() -> Flight {
        let next = batch.number + 1
        batch.close(at: now.domain.milliseconds) { app in
            (engine.apps[app].entities, engine.apps[app].digest.value)
        }
        sweeping.pay(for: batch.events.count, changed: engine.changedSlots.count)
        let flight = flights.board(&batch, &outbound)
        flight.calls.takeAll(of: &engine)
        callsOnTheWay += flight.calls.count
        batch.reset(number: next)
        return flight
    }

    private func hand(over flight: Flight) {
        // Answers alone are no batch of the journal's: they leave behind those that they may show.
        if flight.batch.isEmpty { return flights.follow(flight) }
        switch journal.append(flight.batch) {
        case .committed: flights.land(flight)
        case .pending: flights.depart(flight, at: now)
        }
    }

    /// The journal says what became of something.
    package func take(_ notice: JournalNotice) {
        switch notice {
        case .committed(let number, let microseconds):
            flights.land(through: number)
            extendLease()
            statistics.lastCommit = microseconds
            if log.tellsMessages { tellCommit(number, microseconds: microseconds) }
            statistics.commits.record(microseconds, at: now.monotonic)
        case .swept: sweeping.isWriting = false
        case .isFull(let free): becomeFull(free: free)
        case .hasRoom:
            flights.isDiskFull = false
            heldAnswers.removeAll()
        case .segmentIsDelayed(let isDelayed): statistics.isSegmentDelayed = isDelayed
        case .read(let result): take(result)
        case .backedUp(let result): take(result)
        }
    }

    /// No change is taken until there is room. What was applied already waits for it, with its answers; reads that take many
    /// turns would show it, so they end.
    private func becomeFull(free: Int) {
        flights.freeBytes = free
        guard !flights.isDiskFull else { return }
        if !batch.isEmpty {
            flights.hold(closeFlight())
        } else if flights.areLanded {
            leaveNow()
        } else if !outbound.isEmpty {
            flights.hold(flights.board(&outbound))
        }
        flights.isDiskFull = true
        isUnheard = true
        engine.unheard.since = now.domain
        heldAnswers.removeAll()
        refuseWaitingReads()
        refuseJobs(.diskFull)
        endPulls(.diskFull)
    }

    /// A commit that takes longer, in milliseconds of domain time, holds answers back. So much less are they remembered
    /// after shorter ones; a disk that stalls for a second each few minutes does not let all of them be remembered for good.
    /// So it is with leaps of domain time.
    private static let lateCommit: Milliseconds = 30_000

    /// Answers from before a leap of domain time are remembered from its end: whoever has not got one sends the command again
    /// within moments, however far the clock went meanwhile. Where the process stood still, that waits in the sockets.
    func keepAnswers(overLeapOf span: Milliseconds, since before: Instant) {
        if span >= Self.lateCommit { retries.keepAll(at: now.domain, since: before) }
    }

    /// Answers that wait for their commit for long are remembered from when they leave.
    func keepHeldAnswers() {
        let begin = flights.takeDeparture() ?? now.domain
        // A clock of another speed stands meanwhile, and leaps in the turn after. A manual one only goes where it is sent.
        let isHeld = !clock.isManual && now.domain - begin >= Self.lateCommit || clock.isWaiting
        if isHeld || wereAnswersHeld { retries.keepAll(at: now.domain, since: begin) }
        wereAnswersHeld = isHeld
        // A start is to know it, too; while the disk is full nobody is given an answer that waits.
        if flights.mayDepart, !flights.isDiskFull { noteRetryHold() }
    }

    /// Tells the journal which answers are remembered for longer. On a clock of another speed it is told of more, as
    /// with the lease: there each commit may take so long that it holds answers back, and would be told of by the next.
    func noteRetryHold() {
        guard retries.hold.after != notedHold.after || retries.hold.until > notedHold.until else { return }
        notedHold = retries.hold
        if case .speed(_, let factor) = clock.mode {
            notedHold.until = notedHold.until + ClockLease.domainSpan(of: ClockLease.span, at: factor)
        }
        noteFact(.retryHold)
    }

    /// The same as it is written: a round of the snapshot may come before the next note.
    var storedHold: RetryHold {
        guard retries.hold.after == notedHold.after else { return retries.hold }
        return RetryHold(after: notedHold.after, until: max(notedHold.until, retries.hold.until))
    }

    /// Whether something was done that is not handed to the journal yet.
    package var hasUncommitted: Bool { !batch.isEmpty }

    /// For how many milliseconds the batch has been under way that the journal commits at present; 0: it commits none.
    package var commitAge: Milliseconds { flights.flightTime(at: now.monotonic) ?? 0 }

    /// Whether the journal waits for room on the disk.
    package var isDiskFull: Bool { flights.isDiskFull }

    /// Whether something may leave now.
    package var hasReleased: Bool { flights.hasLanded }

    /// What may leave now, in order; nil where nothing more may. To be given back with ``sent(_:)``.
    package func nextReleased() -> Flight? { flights.nextLanded() }

    /// A flight's messages were sent.
    ///
    /// - Parameter time: when, in nanoseconds of the clock of ``TurnTime/monotonicNanoseconds``; nil where nobody wants to
    ///   know how long answers take.
    package func sent(_ flight: Flight, at time: Int64? = nil) {
        if let time {
            for receipt in flight.outbound.receipts {
                statistics.answers.record(
                    Int((time - receipt.at) / 1_000), count: receipt.count, at: now.monotonic)
            }
        }
        if !flight.calls.isEmpty { wantCalls(flight.calls) }
        flights.reuse(flight)
    }
}
