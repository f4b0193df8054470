import IsletCore

/// From when the silence of publishers counts.
extension Partition {
    /// A commit that takes this part of the shortest silence that has a consequence keeps publishers from breaking it.
    private static let shareOfSilence: Milliseconds = 4

    /// Silence that no publisher could break is none. So it counts from the first turn of a run, from the first one that has
    /// room on the disk again, from the turn to which domain time leaps, and from now while a commit holds answers back: most
    /// publishers give the next sign of life once the last one is answered.
    ///
    /// - Parameter leapBegin: domain time in the turn before, where it has leapt since.
    func countSilence(leaptSince leapBegin: Instant?) {
        guard !flights.isDiskFull else { return }
        if isUnheard {
            isUnheard = false
            engine.unheard.until = now.domain
        }
        if let leapBegin { countSilenceAnew(since: leapBegin) }
        // A manual clock only goes where it is sent.
        guard !clock.isManual, let begin = flights.departure, let silence = engine.rules.shortestSilence,
            now.domain - begin >= silence / Self.shareOfSilence
        else { return }
        countSilenceAnew(since: begin)
    }

    /// Silence counts from this turn on. What begins where the last such time ended, or within it, goes on with it.
    private func countSilenceAnew(since begin: Instant) {
        if engine.unheard.until < begin { engine.unheard.since = begin }
        engine.unheard.until = now.domain
    }
}
