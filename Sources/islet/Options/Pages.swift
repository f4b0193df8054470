import IsletClient
import IsletFilter
import Synchronization

/// The rows of a list, page after page.
enum Pages {
    /// Asks for pages until the limit or the end.
    ///
    /// - Parameter member: the answer's member that has the rows.
    /// - Returns: the rows, and how many there are in all; nil where the service does not say it.
    static func rows(
        _ command: Command, _ member: String, limit: Int, _ connection: IsletConnection
    ) async throws -> (rows: [RawObject], total: Int64?, isExact: Bool) {
        var pages = ListPages(command, connection)
        var rows: [RawObject] = []
        var total: Int64?
        var isExact = true
        while rows.count < limit, let page = try await pages.next(limit: limit - rows.count) {
            if page.isFirst { rows = [] }
            rows += page.answer[member]?.elements?.compactMap(\.object) ?? []
            total = page.answer["total"]?.integer
            isExact = page.answer["exact"]?.bool != false
        }
        return (rows, total, isExact)
    }

    /// Visits the rows of all pages, one by one.
    ///
    /// - Parameters:
    ///   - member: the answer's member that has the rows.
    ///   - timeout: how long a page may take; nil: as long as any answer.
    ///   - begin: called before the first row, and again where the list begins anew since the service was restarted.
    /// - Returns: whether these are all; not where there are more than are looked through.
    static func forEach(
        _ command: Command, _ member: String, _ connection: IsletConnection, timeout: Duration? = nil,
        begin: () -> Void, _ visit: (RawObject) -> Void
    ) async throws(IsletError) -> Bool {
        var pages = ListPages(command, connection)
        var seen = 0
        while let page = try await pages.next(timeout: timeout) {
            if page.isFirst {
                seen = 0
                begin()
            }
            for row in page.answer[member]?.elements ?? [] {
                guard let row = row.object else { continue }
                seen += 1
                visit(row)
            }
            guard seen < seenMax || !page.hasNext else { return false }
        }
        return true
    }

    /// All rows of a list that gives as many as an answer has room for.
    ///
    /// - Parameter member: the answer's member that has the rows.
    static func all(
        _ command: Command, _ member: String, _ connection: IsletConnection
    ) async throws(IsletError) -> [RawJSON] {
        var pages = ListPages(command, connection)
        var rows: [RawJSON] = []
        while rows.count < seenMax, let page = try await pages.next(limit: nil) {
            if page.isFirst { rows = [] }
            rows += page.answer[member]?.elements ?? []
        }
        return rows
    }

    /// What a filter has selected of a list.
    struct Selection {
        /// The first that fit.
        var rows: [RawObject] = []
        /// How many fit.
        var matching = 0
        /// How many were looked through.
        var seen = 0
        /// Whether there were more than are looked through.
        var isCut = false

        /// Nothing yet.
        init() {}

        /// What fits of the rows of one answer.
        ///
        /// - Parameters:
        ///   - limit: how many are kept; the others are only counted.
        ///   - total: how many there are at the service; nil: these.
        init(_ all: [RawObject], limit: Int, fitting filter: Filter, now: Int64, of total: Int64? = nil) {
            let fitting = all.filter { filter.matches($0, now: now) }
            rows = Array(fitting.prefix(limit))
            matching = fitting.count
            seen = all.count
            isCut = total ?? 0 > Int64(all.count)
        }

        /// Such as `showing 50 of 60 that fit, among 12 031`.
        var line: String {
            let fitting = RecoveryText.grouped(matching)
            return "showing \(RecoveryText.grouped(rows.count)) of \(fitting) that fit, among "
                + (isCut ? "the first " : "") + RecoveryText.grouped(seen)
        }
    }

    /// How many rows are looked through.
    static let seenMax = 1_000_000

    /// Asks for all pages and keeps what fits.
    ///
    /// - Parameters:
    ///   - limit: how many rows are kept; the others are only counted.
    ///   - now: domain time for the filter.
    static func rows(
        _ command: Command, _ member: String, limit: Int, fitting filter: Filter, now: Int64,
        _ connection: IsletConnection
    ) async throws -> Selection {
        let seen = Mutex((seen: 0, fitting: 0))
        return try await ProgressLine.during {
            let (seen, fitting) = seen.withLock { $0 }
            return "\(RecoveryText.grouped(fitting)) of \(RecoveryText.grouped(seen)) fit"
        } _: {
            try await select(command, member, limit: limit, fitting: filter, now: now, connection) { selection in
                seen.withLock { $0 = (selection.seen, selection.matching) }
            }
        }
    }

    /// - Parameter tell: called now and then.
    private static func select(
        _ command: Command, _ member: String, limit: Int, fitting filter: Filter, now: Int64,
        _ connection: IsletConnection, tell: (Selection) -> Void
    ) async throws -> Selection {
        var selection = Selection()
        let isWhole = try await forEach(command, member, connection) {
            selection = Selection()
        } _: { row in
            selection.seen += 1
            if selection.seen % ListPages.maximumRows == 0 { tell(selection) }
            guard filter.matches(row, now: now) else { return }
            selection.matching += 1
            if selection.rows.count < limit { selection.rows.append(row) }
        }
        selection.isCut = !isWhole
        return selection
    }
}
