/// When the service is told how far the readers of a connection are: soon after they got further, but seldom, and from
/// time to time where they did not, so that nobody who is there is forgotten.
///
/// A pure value; time is passed in. What it says to send is not waited for: a report that is lost costs nothing.
package struct ReportSchedule: Sendable {
    /// From one report to the next, where the readers follow few apps.
    package static let interval = Duration.seconds(1)
    /// The same where they follow many, as each is looked at then.
    package static let longInterval = Duration.seconds(10)
    /// More than so many in all are many.
    package static let fewApps = 100
    /// Once so many messages have come in, it is told at once: whoever is 10,000 events behind by its last report lags in the
    /// eyes of the service.
    package static let muchNews = 5_000
    /// Where nothing is new, it is said again after so long.
    package static let repetition = Duration.seconds(30)

    private var told: [Int: AppliedReport] = [:]
    /// How many messages have come in since the last look.
    private var news = 0
    private var nextLook: ContinuousClock.Instant?
    private var repeatAt: ContinuousClock.Instant?

    /// Nothing to tell yet.
    package init() {}

    /// So many messages have come in, so that a reader may be further.
    package mutating func moved(by count: Int) { news = min(news + count, Self.muchNews) }

    /// When ``due(now:_:)`` has something to do; nil while nothing is to be told.
    package var nextWakeUp: ContinuousClock.Instant? {
        [news > 0 ? nextLook : nil, repeatAt].compactMap(\.self).min()
    }

    /// What is to be told now.
    ///
    /// - Parameter readers: how far each reader is; asked for where anything is due.
    package mutating func due(
        now: ContinuousClock.Instant, _ readers: () -> [(reader: Int, report: AppliedReport)]
    ) -> [AppliedReport] {
        let isRepeated = repeatAt.map { $0 <= now } ?? false
        let isLookDue = news >= Self.muchNews || news > 0 && nextLook.map { $0 <= now } ?? true
        guard isRepeated || isLookDue else { return [] }
        news = 0
        let all = readers()
        let reports = all.filter { isRepeated || told[$0.reader] != $0.report }.map(\.report)
        told = Dictionary(uniqueKeysWithValues: all.map { ($0.reader, $0.report) })
        let apps = all.reduce(0) { $0 + $1.report.positions.count }
        nextLook = now + (apps > Self.fewApps ? Self.longInterval : Self.interval)
        if all.isEmpty {
            repeatAt = nil
        } else if isRepeated || repeatAt == nil {
            repeatAt = now + Self.repetition
        }
        return reports
    }
}
