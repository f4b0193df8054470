import IsletCore

/// What the events of a flight want of providers.
struct WantedCalls {
    var controls: [ControlCall] = []
    var widgets: [WidgetCall] = []

    var isEmpty: Bool { controls.isEmpty && widgets.isEmpty }
    var count: Int { controls.count + widgets.count }

    /// Takes what the engine wants by now.
    mutating func takeAll(of engine: inout Engine) {
        controls = engine.controls.takeCalls()
        widgets = engine.widgets.takeCalls()
    }

    mutating func append(_ others: WantedCalls) {
        controls += others.controls
        widgets += others.widgets
    }

    /// Forgets the first of each.
    mutating func removeFirst(controls: Int, widgets: Int) {
        self.controls.removeFirst(controls)
        self.widgets.removeFirst(widgets)
    }

    mutating func removeAll() {
        controls.removeAll(keepingCapacity: true)
        widgets.removeAll(keepingCapacity: true)
    }
}
