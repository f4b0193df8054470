import Synchronization

/// An app at a service: a connection that is opened at its first use, and the copy of the app's activities.
///
/// Usually made by ``Islet/configure(app:endpoints:options:)``; several sessions may be used side by side:
///
///     let session = IsletSession(app: "com.example.pizza")
///     try await Islet.$session.withValue(session) {
///         let activity = try await Activity.request(attributes: attributes, content: content)
///     }
public final class IsletSession: Sendable {
    /// The bundle identifier whose activities these are.
    public let app: String
    let endpoints: Endpoints
    private let options: ConnectionOptions
    private let opening = Mutex<Task<Result<Opened, IsletError>, Never>?>(nil)

    struct Opened: Sendable {
        let connection: IsletConnection
        let store: ActivityStore
    }

    /// A session that connects when it is used first.
    public init(app: String, endpoints: Endpoints = Endpoints(), options: ConnectionOptions = ConnectionOptions()) {
        self.app = app
        self.endpoints = endpoints
        self.options = options
    }

    /// The connection, for what `Activity` does not cover.
    public var connection: IsletConnection {
        get async throws(IsletError) { try await opened().connection }
    }

    /// Ends the connection and all streams of this session.
    public func close() async {
        let task = opening.withLock { $0 }
        guard let task, case .success(let opened) = await task.value else { return }
        await opened.connection.close()
    }

    func opened() async throws(IsletError) -> Opened {
        let task = opening.withLock { opening in
            if let opening { return opening }
            // Detached: it would inherit the task's session.
            let task = Task.detached { [app, endpoints, options] () -> Result<Opened, IsletError> in
                do throws(IsletError) {
                    let connection = try await IsletConnection.open(endpoints, options: options)
                    return .success(
                        Opened(connection: connection, store: ActivityStore(app: app, loop: connection.loop)))
                } catch {
                    return .failure(error)
                }
            }
            opening = task
            return task
        }
        let result = await task.value
        // What failed may succeed another time, such as when descriptors are free again.
        if case .failure = result { opening.withLock { if $0 == task { $0 = nil } } }
        return try result.get()
    }
}
