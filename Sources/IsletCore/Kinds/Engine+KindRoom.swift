extension Engine {
    /// At most as many bytes are what providers declare of kinds, of controls and widgets together: all of it is in
    /// memory.
    package static let maximumDeclaredBytes = 64 << 20

    /// Why there is no room for these kinds of an app, or for the app, as far as they are new; nil: there is.
    package func refusal(
        ofKinds controlKinds: [ControlKindDeclaration], _ widgetKinds: [WidgetKindDeclaration], app name: FrameRange,
        _ frame: Span<UInt8>
    ) -> Refusal? {
        let app = apps.find(name, of: frame)
        guard app != nil || apps.apps.count < AppTable.maximumApps else {
            return .quotaExceeded(limit: AppTable.maximumApps)
        }
        var (newControls, newWidgets) = (controlKinds.count, widgetKinds.count)
        if let app {
            newControls = controlKinds.count { controls.kinds.find(app, $0.kind) == nil }
            newWidgets = widgetKinds.count { widgets.kinds.find(app, $0.kind) == nil }
        }
        let (controlLimit, widgetLimit) =
            (ControlKindTable.maximumKinds, DeclaredKindTable<WidgetKindDeclaration>.maximumKinds)
        if controls.kinds.records.count + newControls > controlLimit { return .quotaExceeded(limit: controlLimit) }
        if widgets.kinds.records.count + newWidgets > widgetLimit { return .quotaExceeded(limit: widgetLimit) }
        let growth =
            controlKinds.reduce(0) { $0 + self.growth(by: $1, of: app) }
            + widgetKinds.reduce(0) { $0 + self.growth(by: $1, of: app) }
        let declared = controls.kinds.declaredBytes + widgets.kinds.declaredBytes
        // What shrinks is taken also where a release without this limit has taken more.
        guard growth > 0, declared + growth > Self.maximumDeclaredBytes else { return nil }
        return .tooMuchDeclared(limit: Self.maximumDeclaredBytes)
    }

    /// How many bytes more are declared with a declaration, which may take the place of another one.
    private func growth(by declaration: ControlKindDeclaration, of app: AppID?) -> Int {
        let known = app.flatMap { controls.kinds.find($0, declaration.kind) }.flatMap { controls.kinds[$0].declaration }
        guard let known else { return declaration.json.count }
        return declaration.difference(from: known) == nil ? 0 : declaration.json.count - known.json.count
    }

    private func growth(by declaration: WidgetKindDeclaration, of app: AppID?) -> Int {
        let known = app.flatMap { widgets.kinds.find($0, declaration.kind) }.flatMap { widgets.kinds[$0].declaration }
        guard let known else { return declaration.json.count }
        return declaration.difference(from: known) == nil ? 0 : declaration.json.count - known.json.count
    }
}
