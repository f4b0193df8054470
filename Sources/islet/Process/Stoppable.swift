/// Something that a person may stop.
enum Stoppable {
    /// Does something; where Ctrl-C or SIGTERM comes first, it fails with what is to be said then.
    ///
    /// - Parameter text: how far it has come.
    static func during(
        _ text: @escaping @Sendable () async -> String, _ body: @escaping @Sendable () async throws -> Void
    ) async throws {
        try await Interruption.telling { signals in
            try await withThrowingTaskGroup { group in
                group.addTask { try await body() }
                group.addTask {
                    for await _ in signals {
                        let unanswered = await Interruption.unanswered()
                        throw Failure(.failure, "\(await text()); stopped\(unanswered)")
                    }
                    // The body was first.
                    try await Task.sleep(for: .seconds(3_600))
                }
                defer { group.cancelAll() }
                try await group.next()
            }
        }
    }
}
