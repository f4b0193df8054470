import IsletCore

/// A kind that providers serve, of either family. In the ``ProviderTable`` it has one number.
enum ServedKind: Equatable {
    case control(ControlKindID)
    case widget(DeclaredKindID)

    /// Far beyond the number of kinds that there may be (``DeclaredKindTable/maximumKinds``).
    private static let widgets: UInt32 = 1 << 31

    init(number: UInt32) {
        self = number >= Self.widgets ? .widget(number - Self.widgets) : .control(number)
    }

    /// Whose calls are told with its own.
    var family: EntityFamily {
        switch self {
        case .control: .control
        case .widget: .widget
        }
    }

    var number: UInt32 {
        switch self {
        case .control(let kind): kind
        case .widget(let kind): Self.widgets + kind
        }
    }
}

extension Engine {
    func app(ofKind kind: ServedKind) -> AppID {
        switch kind {
        case .control(let kind): controls.kinds.app(of: kind)
        case .widget(let kind): widgets.kinds.app(of: kind)
        }
    }

    func name(ofKind kind: ServedKind) -> [UInt8] {
        switch kind {
        case .control(let kind): controls.kinds[kind].name
        case .widget(let kind): widgets.kinds[kind].name
        }
    }
}
