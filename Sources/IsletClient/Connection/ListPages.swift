/// The pages of a list, from the first to the last.
///
/// Most cursors are of the service's process, which refuses those that another one gave (contract, "Pages"). So a list
/// that a restart cuts is begun again with its first page.
package struct ListPages: ~Copyable {
    /// One page.
    package struct Page: Sendable {
        /// The service's answer.
        package let answer: Answer
        /// Whether it is the first one: what was taken from pages before it counts no more.
        package let isFirst: Bool
        /// Whether there are further ones.
        package let hasNext: Bool
    }

    /// The most rows of one page, by the contract.
    package static let maximumRows = 1_000
    /// How often a list is begun. A service that is restarted during each of them is left to whoever asked.
    package static let maximumBeginnings = 4

    private let connection: IsletConnection
    private var command: Command
    private var beginnings = 1
    private var isOver = false

    /// The pages of the list that a command asks for.
    package init(_ command: Command, _ connection: IsletConnection) {
        self.command = command
        self.connection = connection
    }

    /// The next page; nil after the last one.
    ///
    /// - Parameters:
    ///   - limit: how many rows it has at most; nil: as many as an answer has room for.
    ///   - timeout: how long its answer may take; nil: as long as any answer.
    package mutating func next(
        limit: Int? = Self.maximumRows, timeout: Duration? = nil
    ) async throws(IsletError) -> Page? {
        guard !isOver else { return nil }
        command["limit"] = limit.map { .integer(min($0, Self.maximumRows)) }
        let isFirst = command["cursor"] == nil
        let answer: Answer
        do throws(IsletError) {
            answer = try await connection.send(command, timeout: timeout)
        } catch {
            guard !isFirst, beginnings < Self.maximumBeginnings, error.isAboutCursor else { throw error }
            beginnings += 1
            command["cursor"] = nil
            return try await next(limit: limit, timeout: timeout)
        }
        let cursor = answer["next"].flatMap { $0.isNull ? nil : $0 }
        command["cursor"] = cursor
        isOver = cursor == nil
        return Page(answer: answer, isFirst: isFirst, hasNext: !isOver)
    }
}

extension IsletError {
    /// Whether a cursor was refused.
    fileprivate var isAboutCursor: Bool { code == .badField && detail["field"]?.string == "cursor" }
}
