import IsletClient

/// The rows whose deadlines are next, of all that there are: a list of very many knows only those that it begins with.
extension TopSource {
    /// The commands for what a timer list names and `known` does not have, each with its place among the timers.
    ///
    /// - Parameters:
    ///   - timers: the answer to `timer.list`.
    ///   - known: the identities of rows that are there.
    static func missing(_ timers: Answer, _ tab: TopTab, known: Set<String>) -> [Command] {
        guard let family = tab.family else { return [] }
        return rows(timers).compactMap { timer in
            guard let id = timer["id"]?.string, let app = timer["app"]?.string, !known.contains(tab.identity(timer))
            else { return nil }
            return Command("\(family).get", app: app, ["id": .string(id)])
        }
    }

    /// What is shown: exactly the rows that the timers name, where they are as many as were asked for and nothing is
    /// filtered out of them; else these and all others.
    static func merged(
        _ rows: [RawObject], _ timers: Answer, _ tab: TopTab, limit: Int, isFiltered: Bool
    ) -> [RawObject] {
        let next = self.rows(timers)
        guard !isFiltered, next.count >= limit else { return rows }
        let named = Set(next.map(tab.identity))
        return rows.filter { named.contains(tab.identity($0)) }
    }

    private static func rows(_ timers: Answer) -> [RawObject] {
        timers["timers"]?.elements?.compactMap(\.object) ?? []
    }
}
