import Synchronization

/// Where `Activity` finds the service: set once for the process, or for a task and its children.
public enum Islet {
    /// The session of the current task and its children, instead of the process's.
    @TaskLocal public static var session: IsletSession?

    private static let configured = Mutex<IsletSession?>(nil)

    /// Sets the app and the service for the whole process. Call it once, before the first `Activity`; a second call
    /// replaces the session for what comes after.
    ///
    /// - Parameter app: the bundle identifier whose activities these are.
    @discardableResult
    public static func configure(
        app: String, endpoints: Endpoints = Endpoints(), options: ConnectionOptions = ConnectionOptions()
    ) -> IsletSession {
        let session = IsletSession(app: app, endpoints: endpoints, options: options)
        configured.withLock { $0 = session }
        return session
    }

    /// As `configure(app:endpoints:options:)`, each endpoint by itself.
    @discardableResult
    public static func configure(
        app: String, commands: String, events: String, bulk: String
    ) -> IsletSession {
        configure(app: app, endpoints: Endpoints(commands: commands, events: events, bulk: bulk))
    }

    /// The task's session, else the process's.
    static func current() throws(IsletError) -> IsletSession {
        guard let session = session ?? configured.withLock(\.self) else { throw .notConfigured }
        return session
    }
}
