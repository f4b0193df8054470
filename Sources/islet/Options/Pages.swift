import IsletClient

/// The rows of a list, page after page.
enum Pages {
    /// What one page has at most, by the contract.
    private static let pageMax = 1_000

    /// Asks for pages until the limit or the end.
    ///
    /// - Parameter member: the answer's member that has the rows.
    /// - Returns: the rows, and how many there are in all, for people.
    static func rows(
        _ command: Command, _ member: String, limit: Int, _ connection: IsletConnection
    ) async throws -> (rows: [RawObject], total: String) {
        var command = command
        var rows: [RawObject] = []
        while true {
            command["limit"] = .integer(min(limit - rows.count, pageMax))
            let page = try await connection.send(command)
            rows += page[member]?.elements?.compactMap(\.object) ?? []
            let total = page["total"]?.description ?? "?"
            guard rows.count < limit, let next = page["next"], !next.isNull else {
                return (rows, page["exact"]?.bool == false ? "about \(total)" : total)
            }
            command["cursor"] = next
        }
    }
}
