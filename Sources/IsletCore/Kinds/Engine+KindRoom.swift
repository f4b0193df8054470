extension Engine {
    /// Whether there is room for these kinds of an app, and for the app, as far as they are new.
    package func hasRoom(
        forKinds controlKinds: [ControlKindDeclaration], _ widgetKinds: [WidgetKindDeclaration], app name: FrameRange,
        _ frame: Span<UInt8>
    ) -> Bool {
        let app = apps.find(name, of: frame)
        guard app != nil || apps.apps.count < AppTable.maximumApps else { return false }
        var (newControls, newWidgets) = (controlKinds.count, widgetKinds.count)
        if let app {
            newControls = controlKinds.count { controls.kinds.find(app, $0.kind) == nil }
            newWidgets = widgetKinds.count { widgets.kinds.find(app, $0.kind) == nil }
        }
        return controls.kinds.records.count + newControls <= ControlKindTable.maximumKinds
            && widgets.kinds.records.count + newWidgets <= DeclaredKindTable<WidgetKindDeclaration>.maximumKinds
    }
}
