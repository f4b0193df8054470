/// How a command names its activity: by `id`, or by `key` (with `device` where the activity has one).
package enum ActivityTarget: Equatable, Sendable, BitwiseCopyable {
    case id(EntityID)
    case key(FrameRange, device: FrameRange?)
}

/// An app and one activity of it.
package struct ActivityAddress: Equatable, Sendable, BitwiseCopyable {
    package var app: FrameRange
    package var target: ActivityTarget

    package init(app: FrameRange, target: ActivityTarget) {
        self.app = app
        self.target = target
    }
}

/// Apple's `ActivityStyle` (apple-semantics 2.2).
package enum ActivityStyle: UInt8, Sendable, BitwiseCopyable {
    case standard
    case transient
}

/// `activity.start`: makes one.
package struct ActivityStart: Equatable, Sendable, BitwiseCopyable {
    package var app: FrameRange
    package var type: FrameRange
    /// The exact bytes of the JSON object.
    package var attributes: FrameRange
    /// The exact bytes of the JSON object.
    package var contentState: FrameRange
    package var staleDate: Instant?
    package var relevanceScore: Double?
    package var style: ActivityStyle = .standard
    /// A date makes it scheduled (pending); the decoder refuses one without an `alert`.
    package var startDate: Instant?
    /// The exact bytes of the JSON object.
    package var alert: FrameRange?
    /// The exact bytes of the JSON value: `"token"` or `{"channel":…}`.
    package var pushType: FrameRange?
    package var device: FrameRange?
    package var key: FrameRange?
    /// Chosen by the client; nil: the service makes one.
    package var id: EntityID?
    /// Whether the app is in the background, which Apple refuses (apple-semantics 1.2 row 3); nil: what the device reported.
    package var background: Bool?
    /// `"ifExists":"update"`: where the key is held, this is an update.
    package var updatesExisting: Bool = false

    package init(app: FrameRange, type: FrameRange, attributes: FrameRange, contentState: FrameRange) {
        self.app = app
        self.type = type
        self.attributes = attributes
        self.contentState = contentState
    }
}

/// `activity.update`: replaces the content.
package struct ActivityUpdate: Equatable, Sendable, BitwiseCopyable {
    package var address: ActivityAddress
    package var contentState: FrameRange
    /// Nil clears it.
    package var staleDate: Instant?
    /// Nil is 0.
    package var relevanceScore: Double?
    package var alert: FrameRange?
    /// Nil is now.
    package var timestamp: Instant?

    package init(address: ActivityAddress, contentState: FrameRange) {
        self.address = address
        self.contentState = contentState
    }
}

/// Apple's `ActivityUIDismissalPolicy`.
package enum DismissalPolicy: Equatable, Sendable, BitwiseCopyable {
    case `default`
    case immediate
    case after(Instant)
}

/// `activity.end`.
package struct ActivityEnd: Equatable, Sendable, BitwiseCopyable {
    package var address: ActivityAddress
    /// Nil keeps the last content.
    package var contentState: FrameRange?
    package var dismissalPolicy: DismissalPolicy = .default
    package var timestamp: Instant?

    package init(address: ActivityAddress) {
        self.address = address
    }
}

/// Who removes an activity (apple-semantics 1.2 rows 28 and 39).
package enum Dismisser: UInt8, Sendable, BitwiseCopyable {
    case person
    case system
}

/// `activity.dismiss`: removes.
package struct ActivityDismiss: Equatable, Sendable, BitwiseCopyable {
    package var address: ActivityAddress
    package var by: Dismisser = .person

    package init(address: ActivityAddress) {
        self.address = address
    }
}

/// `activity.renew`: ends one at once and starts a linked one with the same attributes.
package struct ActivityRenew: Equatable, Sendable, BitwiseCopyable {
    package var address: ActivityAddress
    /// Nil keeps the last content.
    package var contentState: FrameRange?
    package var staleDate: Instant?

    package init(address: ActivityAddress) {
        self.address = address
    }
}

/// The order of `activity.list`.
package enum ListOrder: UInt8, Sendable, BitwiseCopyable {
    /// The order in which a cursor can go on; unspecified otherwise.
    case none
    /// As one device shows them: relevance first, ties by the first started.
    case presentation
}

/// `activity.list`.
package struct ActivityList: Equatable, Sendable, BitwiseCopyable {
    /// Nil only with the order `presentation`, which looks at a whole device.
    package var app: FrameRange?
    /// Nil: all listed ones (open or ended).
    package var state: ActivityState?
    package var type: FrameRange?
    package var device: FrameRange?
    /// A prefix of the key.
    package var key: FrameRange?
    package var order: ListOrder = .none
    /// At most this many rows, 1...1 000.
    package var limit: Int = 50
    /// An opaque string from the page before.
    package var cursor: FrameRange?

    package init() {}
}

/// `activity.tap`: a person tapped it, which opens its app.
package struct ActivityTap: Equatable, Sendable, BitwiseCopyable {
    package var address: ActivityAddress
    /// The JSON string with its quotes.
    package var url: FrameRange?

    package init(address: ActivityAddress) {
        self.address = address
    }
}
