/// `provider.register`: a process computes values for control kinds and timelines for widget kinds.
package struct ProviderRegister: Equatable, Sendable, BitwiseCopyable {
    package var app: FrameRange
    /// Of this run of the process: a new one has another.
    package var provider: EntityID
    /// The exact bytes of the JSON array of control kinds' declarations; one of the two is there.
    package var kinds: FrameRange?
    /// The same of widget kinds.
    package var widgets: FrameRange?
    /// How many calls it takes at a time, 1...1 024.
    package var capacity: Int = 16

    package init(app: FrameRange, provider: EntityID, kinds: FrameRange?, widgets: FrameRange? = nil) {
        self.app = app
        self.provider = provider
        self.kinds = kinds
        self.widgets = widgets
    }
}

/// `provider.answer`: what a call came to.
package struct ProviderAnswer: Equatable, Sendable, BitwiseCopyable {
    package var provider: EntityID
    /// The text of the call's id.
    package var call: FrameRange
    /// The exact bytes of a JSON value.
    package var value: FrameRange?
    /// JSON strings with their quotes, byte for byte.
    package var status: FrameRange?
    package var tint: FrameRange?
    package var actionHint: FrameRange?
    package var isActive: Bool?
    package var isDisabled: Bool?
    /// What an action opens: a JSON string with its quotes.
    package var url: FrameRange?
    /// A timeline's: the exact bytes of a JSON array.
    package var entries: FrameRange?
    /// A timeline's: the exact bytes of a JSON string or object.
    package var policy: FrameRange?
    /// Whether nobody is logged in, so that the one entry asks for it.
    package var needsLogin: Bool?

    package init(provider: EntityID, call: FrameRange) {
        self.provider = provider
        self.call = call
    }
}

/// `provider.fail`: a call threw.
package struct ProviderFail: Equatable, Sendable, BitwiseCopyable {
    package var provider: EntityID
    package var call: FrameRange
    /// The JSON string with its quotes, for people.
    package var message: FrameRange?
    /// Whether another provider may be asked.
    package var isRetryable = false

    package init(provider: EntityID, call: FrameRange) {
        self.provider = provider
        self.call = call
    }
}

/// `control.kinds` and `widget.kinds`: what is declared for an app, by name.
package struct KindList: Equatable, Sendable, BitwiseCopyable {
    package var app: FrameRange
    /// At most this many rows, 1...1 000; nil: as many as one answer has room for.
    package var limit: Int?
    /// The last kind of the page before.
    package var cursor: FrameRange?

    package init(app: FrameRange) {
        self.app = app
    }
}

/// `provider.list`: who is registered, by id.
package struct ProviderList: Equatable, Sendable, BitwiseCopyable {
    /// As of ``KindList``.
    package var limit: Int?
    /// The last provider of the page before.
    package var cursor: EntityID?

    package init() {}
}
