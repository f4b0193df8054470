import IsletClient

/// A provider of the demo, and what happens around it.
struct DemoProvider: Sendable {
    let app: String
    let endpoints: Endpoints

    /// Provides the kinds, and once the service knows them does the rest, until the task is cancelled.
    func run(_ kinds: some WidgetBundle, then live: @escaping @Sendable (IsletConnection) async throws -> Void)
        async throws
    {
        let session = IsletSession(
            app: app, endpoints: endpoints, options: ConnectionOptions(requestPrefix: "demo"))
        let (registrations, registered) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let provider = ProviderService(kinds, session: session, gracePeriod: .seconds(1)) { event in
            switch event {
            case .registered: registered.yield()
            case .connectionLost, .registrationRefused, .answerRefused, .callFailed: break
            }
        }
        try await withThrowingTaskGroup { group in
            group.addTask { try await provider.run() }
            group.addTask {
                // Kinds are there from the first registration on.
                for await _ in registrations { break }
                try await live(session.connection)
            }
            try await group.waitForAll()
        }
    }

    /// Places what people want, unless something is there from an earlier demo.
    ///
    /// - Parameter wishes: the fields of each.
    func place<Family: PlacedFamily>(
        _ family: Family.Type, _ wishes: [RawObject], _ connection: IsletConnection
    ) async throws {
        let placed = try await connection.send(Command("\(Family.noun).list", app: app))["total"]?.integer ?? 0
        guard placed == 0 else { return }
        for wish in wishes { try await connection.send(Command("\(Family.noun).add", app: app, wish)) }
    }
}
