/// An app and one control of it.
package struct ControlAddress: Equatable, Sendable, BitwiseCopyable {
    package var app: FrameRange
    package var id: EntityID

    package init(app: FrameRange, id: EntityID) {
        self.app = app
        self.id = id
    }
}

/// `control.add`: a person places a control (apple-semantics 4.2 C2).
package struct ControlAdd: Equatable, Sendable, BitwiseCopyable {
    package var app: FrameRange
    package var kind: FrameRange
    /// The exact bytes of the JSON object.
    package var configuration: FrameRange?
    package var device: FrameRange?
    /// Chosen by the client; nil: the service makes one.
    package var id: EntityID?

    package init(app: FrameRange, kind: FrameRange) {
        self.app = app
        self.kind = kind
    }
}

/// `control.configure` (C15).
package struct ControlConfigure: Equatable, Sendable, BitwiseCopyable {
    package var address: ControlAddress
    /// The exact bytes of the JSON object.
    package var configuration: FrameRange

    package init(address: ControlAddress, configuration: FrameRange) {
        self.address = address
        self.configuration = configuration
    }
}

/// `control.set`: a toggle's absolute new value.
package struct ControlSet: Equatable, Sendable, BitwiseCopyable {
    package var address: ControlAddress
    package var isOn: Bool

    package init(address: ControlAddress, isOn: Bool) {
        self.address = address
        self.isOn = isOn
    }
}

/// `control.reload`: one control, all of a kind, or all of the app.
package enum ControlReload: Equatable, Sendable, BitwiseCopyable {
    case one(ControlAddress)
    case kind(ControlKindAddress)
    case all(app: FrameRange)
}

/// `control.get`.
package struct ControlGet: Equatable, Sendable, BitwiseCopyable {
    package var address: ControlAddress
    /// A value that is older, in milliseconds, is asked for first; nil: what there is.
    package var maxAge: Milliseconds?

    package init(address: ControlAddress) {
        self.address = address
    }
}

/// `control.list`.
package struct ControlList: Equatable, Sendable, BitwiseCopyable {
    package var app: FrameRange
    package var kind: FrameRange?
    package var device: FrameRange?
    package var state: ControlState?
    /// At most this many rows, 1...1 000.
    package var limit: Int = 50
    /// An opaque string from the page before.
    package var cursor: FrameRange?

    package init(app: FrameRange) {
        self.app = app
    }
}

/// An app and one control kind of it.
package struct ControlKindAddress: Equatable, Sendable, BitwiseCopyable {
    package var app: FrameRange
    package var kind: FrameRange

    package init(app: FrameRange, kind: FrameRange) {
        self.app = app
        self.kind = kind
    }
}

/// `control.options`: what a parameter of a kind's configuration may be.
package struct ControlOptions: Equatable, Sendable, BitwiseCopyable {
    package var address: ControlKindAddress
    package var parameter: FrameRange
    /// What is configured so far: the exact bytes of the JSON object.
    package var configuration: FrameRange?

    package init(address: ControlKindAddress, parameter: FrameRange) {
        self.address = address
        self.parameter = parameter
    }
}
