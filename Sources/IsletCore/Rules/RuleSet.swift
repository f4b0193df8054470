/// Apple's limits and this service's options as one dated value: never a constant in the code.
///
/// The defaults are those of apple-semantics sections 1.3, 2.5 and 8. All spans are domain time in milliseconds.
package struct RuleSet: Equatable, Sendable {
    /// What operators call it.
    package var name: String
    /// The day whose knowledge it holds, `YYYY-MM-DD`.
    package var date: String

    /// The bytes of attributes and content state together (2.5).
    package var contentLimit: Int = 4_096
    /// The longest active time; then the system ends it (1.2 row 27).
    package var activeLimit: Milliseconds = 8 * 3_600_000
    /// The longest time on the Lock Screen after the end (1.2 rows 22 and 23).
    package var dismissalLimit: Milliseconds = 4 * 3_600_000
    /// Open activities of one app on one device (2.5; vendors' figure).
    package var maximumPerApp: Int = 5
    /// Open activities on one device (2.5: Apple gives no figure; a guess).
    package var maximumPerDevice: Int = 20
    /// Whether ended activities count toward the maxima (section 8: no).
    package var endedCountTowardMaxima: Bool = false
    /// A push stamped later than now plus this is dropped (1.2 row 17).
    package var futureTimestampLimit: Milliseconds = 8 * 3_600_000
    /// Whether a push `end` with an old timestamp is accepted (1.2 row 26).
    package var pushEndAcceptsOlderTimestamp: Bool = true
    /// Whether an update that changes nothing is ignored (contract, "Order of checks").
    package var ignoresUnchangedUpdates: Bool = true
    /// How long a key stays muted after a person dismissed its activity; nil: never muted.
    package var muteAfterPersonDismissal: Milliseconds?
    /// An active one without a sign of life for this long becomes stale; nil: no such rule.
    package var heartbeatStaleAfter: Milliseconds?
    /// One without a sign of life for this long is ended; nil: no such rule.
    package var heartbeatEndAfter: Milliseconds?
    /// How long after a control's value failed it is asked for again, at first; doubled each time.
    package var controlRetryFirst: Milliseconds = 1_000
    /// The longest time between two tries.
    package var controlRetryLongest: Milliseconds = 300_000
    /// How long a tap waits for the device to be unlocked (a guess: Apple gives no figure).
    package var authenticationLimit: Milliseconds = 60_000
    /// The bytes of a control's value, and of its configuration.
    package var controlValueLimit: Int = 4_096
    /// The bytes of one value of an app group.
    package var groupValueLimit: Int = 16_384
    /// The keys of one app group.
    package var maximumGroupKeys: Int = 10_000
    /// The bytes of all values of one app group.
    package var groupLimit: Int = 4 << 20
    /// Reloads of one placed widget within 24 hours (apple-semantics 5, budget: typically 40 to 70).
    package var widgetDailyBudget: Int = 60
    /// The same in the first days after it was placed (apple-semantics 5, learning: more; the figure is ours).
    package var widgetLearningBudget: Int = 120
    /// How long these first days are.
    package var widgetLearningSpan: Milliseconds = 3 * 24 * 3_600_000
    /// A reload comes at least so long after the last one of the same widget.
    package var widgetReloadSpacing: Milliseconds = 300_000
    /// Entries of a timeline that are closer are coalesced (apple-semantics 5, entry spacing).
    package var widgetEntrySpacing: Milliseconds = 300_000
    /// The longest time by which a reload comes later than its policy's date, so that not all come at once.
    package var widgetReloadJitter: Milliseconds = 60_000
    /// How long after a timeline failed it is asked for again, at first; doubled each time.
    package var widgetRetryFirst: Milliseconds = 60_000
    /// The longest time between two tries.
    package var widgetRetryLongest: Milliseconds = 7_200_000
    /// At most this many entries of one timeline.
    package var maximumTimelineEntries: Int = 256
    /// Whether budgets and distances are lifted everywhere (apple-semantics 5, not enforced).
    package var widgetDeveloperMode: Bool = false
    /// How long a dismissed activity stays readable.
    package var retention: Milliseconds = 24 * 3_600_000
    /// At most this many dismissed activities stay readable; the oldest go first.
    package var maximumRetained: Int = 1_000_000
    /// At most this many listed entities at all.
    package var maximumEntities: Int = 2_000_000

    package init(name: String, date: String) {
        self.name = name
        self.date = date
    }

    /// Whether a silent publisher has any consequence.
    package var watchesHeartbeats: Bool { shortestSilence != nil }

    /// The shortest silence of a publisher that has a consequence; nil: none has.
    package var shortestSilence: Milliseconds? {
        guard let heartbeatStaleAfter else { return heartbeatEndAfter }
        return min(heartbeatStaleAfter, heartbeatEndAfter ?? heartbeatStaleAfter)
    }

    /// The rules as this release knows them.
    package static let standard = RuleSet(name: "apple-2026", date: "2026-11-01")
}
