/// What a command about widgets does.
package enum WidgetOperation: Equatable, Sendable, BitwiseCopyable {
    case add(WidgetAdd)
    case configure(WidgetConfigure)
    case remove(ControlAddress)
    case reload(WidgetReload)
    case visible(ControlAddress)
    case tap(WidgetTap)
    case invalidateRelevance(ControlKindAddress)
    case invalidateRecommendations(app: FrameRange, kind: FrameRange?)
    case get(ControlAddress)
    case history(ControlAddress)
    case explain(ControlAddress)
    case timeline(ControlAddress, at: Instant?)
    case budget(ControlAddress)
    case list(WidgetList)
    case kinds(KindList)
    case snapshot(WidgetSnapshot)
    case options(WidgetOptions)
    case recommendations(ControlKindAddress)
    /// Of a device.
    case stack(FrameRange)

    /// The app whose stream it is about, where it has one.
    package var app: FrameRange? {
        switch self {
        case .add(let add): add.app
        case .configure(let configure): configure.address.app
        case .remove(let address), .visible(let address), .get(let address), .history(let address),
            .explain(let address), .timeline(let address, _), .budget(let address):
            address.app
        case .reload(.one(let address)): address.app
        case .reload(.kind(let kind)): kind.app
        case .reload(.all(let app)), .invalidateRecommendations(let app, _): app
        case .kinds(let list): list.app
        case .tap(let tap): tap.address.app
        case .invalidateRelevance(let kind), .recommendations(let kind): kind.app
        case .list(let list): list.app
        case .snapshot(let snapshot): snapshot.kind.app
        case .options(let options): options.address.app
        case .stack: nil
        }
    }
}

/// `widget.add`.
package struct WidgetAdd: Equatable, Sendable, BitwiseCopyable {
    package var app: FrameRange
    package var kind: FrameRange
    package var family: WidgetFamily
    /// The exact bytes of the JSON object.
    package var configuration: FrameRange?
    /// The exact bytes of the JSON object.
    package var rendering: FrameRange?
    package var device: FrameRange?
    package var id: EntityID?

    package init(app: FrameRange, kind: FrameRange, family: WidgetFamily) {
        self.app = app
        self.kind = kind
        self.family = family
    }
}

/// `widget.configure`: at least one of the two.
package struct WidgetConfigure: Equatable, Sendable, BitwiseCopyable {
    package var address: ControlAddress
    package var configuration: FrameRange?
    package var rendering: FrameRange?

    package init(address: ControlAddress) {
        self.address = address
    }
}

/// `widget.reload`: one, all of a kind (`reloadTimelines(ofKind:)`), or all of the app (`reloadAllTimelines()`).
package typealias WidgetReload = ControlReload

/// `widget.tap`.
package struct WidgetTap: Equatable, Sendable, BitwiseCopyable {
    /// What was tapped.
    package enum Target: Equatable, Sendable, BitwiseCopyable {
        /// The widget: opens its app with the entry's `url`.
        case widget
        /// A link of the entry, by its name.
        case link(FrameRange)
        /// A button or toggle: runs an action of the provider; with the exact bytes of a JSON object.
        case action(FrameRange, parameters: FrameRange?)
    }

    package var address: ControlAddress
    package var target: Target

    package init(address: ControlAddress, target: Target) {
        self.address = address
        self.target = target
    }
}

/// `widget.list`.
package struct WidgetList: Equatable, Sendable, BitwiseCopyable {
    package var app: FrameRange
    package var kind: FrameRange?
    package var family: WidgetFamily?
    package var device: FrameRange?
    package var state: WidgetState?
    /// 1...1 000.
    package var limit: Int = 50
    package var cursor: FrameRange?

    package init(app: FrameRange) {
        self.app = app
    }
}

/// `widget.snapshot`: one entry for a gallery or a transient place; no placed widget.
package struct WidgetSnapshot: Equatable, Sendable, BitwiseCopyable {
    package var kind: ControlKindAddress
    package var family: WidgetFamily
    package var configuration: FrameRange?
    /// Whether it is for the gallery, where sample data will do.
    package var isPreview = false

    package init(kind: ControlKindAddress, family: WidgetFamily) {
        self.kind = kind
        self.family = family
    }
}

/// `widget.options`: what a parameter may be.
package struct WidgetOptions: Equatable, Sendable, BitwiseCopyable {
    /// What is asked of an entity query.
    package enum Query: Equatable, Sendable, BitwiseCopyable {
        case suggestedEntities
        /// The exact bytes of a JSON array of strings.
        case entitiesFor(FrameRange)
        case defaultResult
    }

    package var address: ControlKindAddress
    package var parameter: FrameRange
    package var configuration: FrameRange?
    package var query: Query = .suggestedEntities

    package init(address: ControlKindAddress, parameter: FrameRange) {
        self.address = address
        self.parameter = parameter
    }
}
