/// The controls that persons have placed, of the app of the current session (see ``Islet``).
///
/// It reads like WidgetKit's, but that everything asks the service: it is `async` and can fail.
///
///     for control in try await ControlCenter.shared.currentControls() { print(control.kind, control.id) }
///     try await ControlCenter.shared.reloadControls(ofKind: "com.example.torch")
public struct ControlCenter: Sendable {
    /// The one there is.
    public static let shared = ControlCenter()

    private init() {}

    /// All controls of the app.
    public func currentControls() async throws(IsletError) -> [ControlInfo] {
        try await Islet.current().list("control.list", "controls").compactMap(ControlInfo.init)
    }

    /// Lets the values of all controls of a kind be asked for again, since they have changed.
    ///
    /// It does not wait for them.
    /// - Returns: how many controls that are.
    @discardableResult
    public func reloadControls(ofKind kind: String) async throws(IsletError) -> Int {
        try await reload(["kind": .string(kind)])
    }

    /// Lets the values of all controls of the app be asked for again; else as ``reloadControls(ofKind:)``.
    @discardableResult
    public func reloadAllControls() async throws(IsletError) -> Int {
        try await reload([:])
    }

    private func reload(_ fields: RawObject) async throws(IsletError) -> Int {
        try await send("control.reload", fields)["count"]?.integer.map(Int.init(clamping:)) ?? 0
    }

    func send(_ op: String, _ fields: RawObject) async throws(IsletError) -> Answer {
        let session = try Islet.current()
        return try await session.connection.send(Command(op, app: session.app, fields))
    }
}
