/// `stream.applied`: how far a subscriber has got; there is no answer.
package struct StreamApplied: Equatable, Sendable, BitwiseCopyable {
    package var nonce: FrameRange
    /// The JSON object of positions by app.
    package var apps: FrameRange

    package init(nonce: FrameRange, apps: FrameRange) {
        self.nonce = nonce
        self.apps = apps
    }
}

/// `bulk.snapshot`: the listed entities of an app, pulled with credit.
package struct BulkSnapshot: Equatable, Sendable, BitwiseCopyable {
    package var app: FrameRange
    /// A prefix of the topic.
    package var prefix: FrameRange?
    /// How many chunks may be sent, 1...16.
    package var credit: Int

    package init(app: FrameRange, prefix: FrameRange?, credit: Int) {
        self.app = app
        self.prefix = prefix
        self.credit = credit
    }
}

/// `bulk.replay`: the stored events of an app after `from`.
package struct BulkReplay: Equatable, Sendable, BitwiseCopyable {
    package var app: FrameRange
    /// The last sequence number that the client has.
    package var from: UInt64
    package var credit: Int

    package init(app: FrameRange, from: UInt64, credit: Int) {
        self.app = app
        self.from = from
        self.credit = credit
    }
}

/// `bulk.digest`: the digest over the listed entities whose topics begin with a prefix.
package struct BulkDigest: Equatable, Sendable, BitwiseCopyable {
    package var app: FrameRange
    package var prefix: FrameRange?

    package init(app: FrameRange, prefix: FrameRange?) {
        self.app = app
        self.prefix = prefix
    }
}
