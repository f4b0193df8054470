/// Whether activities may be started, as the person has set it.
public struct ActivityAuthorizationInfo: Sendable {
    private let device: String?

    /// The settings of a device; without one those that hold for all.
    public init(device: String? = nil) {
        self.device = device
    }

    /// Whether the app may start activities.
    public var areActivitiesEnabled: Bool {
        get async throws(IsletError) { try await setting("activitiesEnabled", of: Islet.current()) }
    }

    /// Whether the app may update often.
    public var frequentPushesEnabled: Bool {
        get async throws(IsletError) { try await setting("frequentPushesEnabled", of: Islet.current()) }
    }

    /// `areActivitiesEnabled`: as it is, then each change. Settings make no events, so the service is asked every two
    /// seconds while somebody listens. It ends with the connection.
    public var activityEnablementUpdates: AsyncStream<Bool> { updates("activitiesEnabled") }

    /// As `activityEnablementUpdates`, of `frequentPushesEnabled`.
    public var frequentPushEnablementUpdates: AsyncStream<Bool> { updates("frequentPushesEnabled") }

    private static let interval = Duration.seconds(2)

    private func updates(_ name: String) -> AsyncStream<Bool> {
        AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
            let session = try? Islet.current()
            let task = Task {
                let last = Latest<Bool>()
                while let session, !Task.isCancelled {
                    do throws(IsletError) {
                        let value = try await setting(name, of: session)
                        if last.isNew(value) { continuation.yield(value) }
                    } catch {
                        // A service that does not answer has not changed its mind; a closed connection never will.
                        if error == .closed || error == .cancelled { break }
                    }
                    try? await Task.sleep(for: Self.interval)
                }
                continuation.finish()
            }
            continuation.onTermination = { _ in task.cancel() }
        }
    }

    private func setting(_ name: String, of session: IsletSession) async throws(IsletError) -> Bool {
        var command = Command("settings.get", app: session.app)
        command["device"] = device.map(RawJSON.string)
        guard let value = try await session.connection.send(command)["settings"]?.object?[name]?.bool else {
            throw .unreadable("settings without \(name)")
        }
        return value
    }
}
