extension Engine {
    /// The limit that leaves no room for these kinds of an app, or for the app, as far as they are new; nil: there is room.
    package func limitReached(
        byKinds controlKinds: [ControlKindDeclaration], _ widgetKinds: [WidgetKindDeclaration], app name: FrameRange,
        _ frame: Span<UInt8>
    ) -> Int? {
        let app = apps.find(name, of: frame)
        guard app != nil || apps.apps.count < AppTable.maximumApps else { return AppTable.maximumApps }
        var (newControls, newWidgets) = (controlKinds.count, widgetKinds.count)
        if let app {
            newControls = controlKinds.count { controls.kinds.find(app, $0.kind) == nil }
            newWidgets = widgetKinds.count { widgets.kinds.find(app, $0.kind) == nil }
        }
        let (controlLimit, widgetLimit) =
            (ControlKindTable.maximumKinds, DeclaredKindTable<WidgetKindDeclaration>.maximumKinds)
        if controls.kinds.records.count + newControls > controlLimit { return controlLimit }
        return widgets.kinds.records.count + newWidgets > widgetLimit ? widgetLimit : nil
    }
}
