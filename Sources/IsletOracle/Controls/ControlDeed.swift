/// A command about controls or widgets as the witnesses understand it.
package struct ControlDeed: Sendable {
    package let op: String
    /// The control or widget; nil where it names a kind, an app, or one that is to be made.
    package var id: String?
    package var kind: String?
    /// A toggle's value that is to be set.
    package var isOn: Bool?
    /// When it is answered everything is at rest, so that it shows what the last event left.
    package var isAtRest = false
    /// Of a Smart Stack.
    package var device: String?
    /// It has other bytes than what was sent under its `req` before.
    package var isForged = false
    /// Its `ttl` was over before it was executed.
    package var isExpired = false
    /// How often the world had changed when it was made.
    package var changes = 0

    package init(_ op: String) {
        self.op = op
    }

    /// Whether it can change anything, so that a retry must not do it twice.
    package var isChange: Bool {
        ["control.add", "control.configure", "control.remove", "control.tap", "control.set", "control.reload"]
            .contains(op)
            || ["widget.add", "widget.configure", "widget.remove", "widget.reload", "widget.visible", "widget.tap"]
                .contains(op)
    }

    /// Whether it may have a `minSeq`, and shows nothing of the date at which it is read.
    package var mayWait: Bool {
        [
            "control.get", "control.list", "control.history", "control.explain", "widget.get", "widget.list",
            "widget.history", "widget.explain", "widget.timeline",
        ].contains(op)
    }

    /// The codes with which it may be refused.
    package var refusals: [String] {
        switch op {
        case "control.add": ["notFound", "reconnectNotPermitted"]
        case "control.tap": ["notFound", "unavailable", "conflict"]
        case "control.set": ["notFound", "unavailable", "conflict", "badField"]
        case "control.configure", "control.remove": ["notFound", "conflict"]
        case "control.reload": ["notFound", "conflict", "busy"]
        case "control.history": ["notFound", "busy"]
        case "control.options": ["notFound", "unavailable", "busy"]
        case "control.list", "control.kinds", "widget.stack": []
        case "widget.list", "widget.kinds": ["busy"]
        case "widget.add": ["notFound", "reconnectNotPermitted"]
        case "widget.tap": ["notFound", "unavailable", "badField"]
        case "widget.reload", "widget.history", "widget.explain": ["notFound", "busy"]
        case "widget.snapshot", "widget.options": ["notFound", "unavailable", "busy"]
        default: ["notFound"]
        }
    }
}
