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
        let session = try Islet.current()
        var found: [ControlInfo] = []
        var cursor: RawJSON?
        repeat {
            var command = Command("control.list", app: session.app)
            command["limit"] = .integer(Self.pageSize)
            command["cursor"] = cursor
            let page = try await session.connection.send(command)
            found += (page["controls"]?.elements ?? []).compactMap { $0.object.flatMap(ControlInfo.init) }
            cursor = page["next"].flatMap { $0.isNull ? nil : $0 }
        } while cursor != nil
        return found
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
        let session = try Islet.current()
        let answer = try await session.connection.send(Command("control.reload", app: session.app, fields))
        return answer["count"]?.integer.map(Int.init(clamping:)) ?? 0
    }

    /// What one page of a list has at most, by the contract.
    private static let pageSize = 1_000
}
