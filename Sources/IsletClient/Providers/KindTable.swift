/// The kinds of a provider by their names, in the order in which they were listed.
struct KindTable: Sendable {
    private let order: [ProviderKind]
    private var controls: [String: ControlDefinition] = [:]
    private var widgets: [String: WidgetDefinition] = [:]

    /// - Throws: ``IsletError/invalid(_:)`` where there are none, or a name stands twice among the controls or among
    ///   the widgets.
    init(_ kinds: [ProviderKind]) throws(IsletError) {
        order = kinds
        guard !kinds.isEmpty else { throw .invalid("a provider serves at least one kind") }
        for kind in kinds {
            let previous: String? =
                switch kind {
                case .control(let control): controls.updateValue(control, forKey: control.kind)?.kind
                case .widget(let widget): widgets.updateValue(widget, forKey: widget.kind)?.kind
                }
            if let previous { throw .invalid("the kind '\(previous)' is declared twice") }
        }
    }

    /// The control kind of that name.
    func control(_ kind: String) -> ControlDefinition? { controls[kind] }

    /// The widget kind of that name.
    func widget(_ kind: String) -> WidgetDefinition? { widgets[kind] }

    /// The declarations of the control kinds.
    func controlDeclarations() throws(IsletError) -> [ProviderMachine.Declaration] {
        var declarations: [ProviderMachine.Declaration] = []
        for case .control(let control) in order {
            declarations.append((control.kind, try control.declaration()))
        }
        return declarations
    }

    /// The declarations of the widget kinds.
    func widgetDeclarations() throws(IsletError) -> [ProviderMachine.Declaration] {
        var declarations: [ProviderMachine.Declaration] = []
        for case .widget(let widget) in order {
            declarations.append((widget.kind, try widget.declaration()))
        }
        return declarations
    }
}
