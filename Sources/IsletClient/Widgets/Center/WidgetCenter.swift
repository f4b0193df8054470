/// The widgets that persons have placed, of the app of the current session (see ``Islet``).
///
/// It reads like WidgetKit's, but that everything asks the service: it is `async` and can fail.
///
///     for widget in try await WidgetCenter.shared.currentConfigurations() { print(widget.kind, widget.id) }
///     try await WidgetCenter.shared.reloadTimelines(ofKind: "com.example.weather")
public struct WidgetCenter: Sendable {
    /// The one there is.
    public static let shared = WidgetCenter()

    private init() {}

    /// All widgets of the app.
    public func currentConfigurations() async throws(IsletError) -> [WidgetInfo] {
        try await Islet.current().list("widget.list", "widgets").compactMap(WidgetInfo.init)
    }

    /// As ``currentConfigurations()``, for code that is not `async`.
    public func getCurrentConfigurations(
        _ completion: @escaping @Sendable (Result<[WidgetInfo], IsletError>) -> Void
    ) {
        Task {
            do throws(IsletError) {
                completion(.success(try await currentConfigurations()))
            } catch {
                completion(.failure(error))
            }
        }
    }

    /// Lets the timelines of all widgets of a kind be asked for again, since they have changed: at once, or when the
    /// widget's budget allows it.
    ///
    /// It does not wait for them.
    /// - Returns: how many widgets that are.
    @discardableResult
    public func reloadTimelines(ofKind kind: String) async throws(IsletError) -> Int {
        try await count("widget.reload", ["kind": .string(kind)])
    }

    /// Lets the timelines of all widgets of the app be asked for again; else as ``reloadTimelines(ofKind:)``.
    @discardableResult
    public func reloadAllTimelines() async throws(IsletError) -> Int {
        try await count("widget.reload")
    }

    /// Forgets the configurations that providers have recommended, so that they are asked for them again.
    ///
    /// - Returns: how many kinds had some.
    @discardableResult
    public func invalidateConfigurationRecommendations() async throws(IsletError) -> Int {
        try await count("widget.invalidateRecommendations")
    }

    /// Lets the provider of a kind be asked again when it matters.
    @discardableResult
    public func invalidateRelevance(ofKind kind: String) async throws(IsletError) -> Answer.Outcome {
        try await send("widget.invalidateRelevance", ["kind": .string(kind)]).outcome ?? .applied
    }

    func send(_ op: String, _ fields: RawObject = [:]) async throws(IsletError) -> Answer {
        let session = try Islet.current()
        return try await session.connection.send(Command(op, app: session.app, fields))
    }

    private func count(_ op: String, _ fields: RawObject = [:]) async throws(IsletError) -> Int {
        try await send(op, fields)["count"]?.integer.map(Int.init(clamping:)) ?? 0
    }
}

extension IsletSession {
    /// All rows of a list, page by page.
    ///
    /// - Parameter member: where they stand in each answer.
    func list(_ op: String, _ member: String, _ fields: RawObject = [:]) async throws(IsletError) -> [RawObject] {
        var found: [RawObject] = []
        var pages = try await ListPages(Command(op, app: app, fields), connection)
        while let page = try await pages.next() {
            if page.isFirst { found = [] }
            found += (page.answer[member]?.elements ?? []).compactMap(\.object)
        }
        return found
    }
}
