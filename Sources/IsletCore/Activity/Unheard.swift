/// The last time in which no sign of life could be heard: the service did not run, the disk was full, domain time leapt, or a
/// commit held back the answers that publishers wait for. Silence that no publisher could break is none, so it counts from
/// the end of that time.
///
/// Domain time leaps where it goes on from one turn to the next by more than turns are ever apart by plan. What was sent
/// meanwhile waits behind the deadlines that came due: also where somebody set the clock, and nobody was silent at all.
///
/// It is of one run of the service and not remembered: each start sets it anew.
package struct Unheard: Equatable, Sendable, BitwiseCopyable {
    package var since: Instant
    package var until: Instant

    package init(since: Instant, until: Instant) {
        self.since = since
        self.until = until
    }

    /// Every sign of life was heard.
    package static let never = Unheard(since: Instant(0), until: Instant(0))
}
