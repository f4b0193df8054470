/// A command as the oracle understands it. It is made beside the JSON text, never read from it.
package struct OracleCommand: Sendable {
    package enum Target: Equatable, Sendable {
        case id(String)
        case key(String, device: String?)
    }

    package enum Policy: Equatable, Sendable {
        case `default`, immediate
        case after(Int64)
    }

    package struct Start: Sendable {
        package var type = ""
        package var attributes = "{}"
        package var content = "{}"
        package var staleDate: Int64?
        package var relevance: Double?
        package var isTransient = false
        package var startDate: Int64?
        package var alert: String?
        package var pushType: String?
        package var device: String?
        package var key: String?
        package var id: String?
        package var background: Bool?
        package var updatesExisting = false

        package init() {}
    }

    package enum Operation: Sendable {
        case start(Start)
        case update(Target, content: String, staleDate: Int64?, relevance: Double?, alert: String?, stamp: Int64?)
        case end(Target, content: String?, Policy, stamp: Int64?)
        case dismiss(Target, by: String)
        case renew(Target, content: String?, staleDate: Int64?)
        case heartbeat(Target)
        case get(Target)
        case history(Target)
        case list(state: LifeState?)
        case settingsSet(device: String?, enabled: Bool?, frequent: Bool?)
        case settingsGet(device: String?)
        case deviceEvent(device: String, event: String)
        case advance(Int64)
        /// About controls or their kinds: judged by ``ControlWitness``.
        case control(ControlDeed)
        /// About an app group.
        case group(GroupDeed)
        case info
        case ping
        /// Malformed in a way that has this code.
        case wrong(code: String)
    }

    package var app: String
    package var operation: Operation
    package var ifRevision: Int?
    package var isPush = false
    /// The client and its `req`, which make a retry safe.
    package var client: String?
    package var req: String?

    package init(app: String, _ operation: Operation) {
        self.app = app
        self.operation = operation
    }

    /// Whether it can change anything, so that a retry must not do it twice.
    package var isRemembered: Bool {
        switch operation {
        case .start, .update, .end, .dismiss, .renew, .heartbeat, .settingsSet, .deviceEvent, .advance: true
        case .group(let deed): deed.isChange
        case .get, .history, .list, .settingsGet, .control, .info, .ping, .wrong: false
        }
    }
}

/// A read of an activity by its id that waits for a sequence number.
package struct AwaitedRead: Sendable {
    package var id: String
    package var seq: Int
    /// Whether it was there when the read began to wait.
    package var wasThere: Bool
    /// From when and how long it waits, in real milliseconds.
    package var since: Int64
    package var wait: Int64
    /// How often the disk had been full by then.
    package var fullDisks: Int

    package init(id: String, seq: Int, wasThere: Bool, since: Int64, wait: Int64, fullDisks: Int) {
        self.id = id
        self.seq = seq
        self.wasThere = wasThere
        self.since = since
        self.wait = wait
        self.fullDisks = fullDisks
    }
}

/// What the answer to a command must say.
package struct Expectation: Sendable {
    package enum Say: Sendable {
        /// `applied`, with the sequence number and the short form of an activity where there are any.
        case applied(seq: Int?, Handle?, Shape?)
        case ignored(reason: String, seq: Int, Handle, Shape)
        case refused(code: String, retry: String, detail: [String: JSON])
        /// The key is held by another one.
        case held(by: Handle, revision: Int)
        case settings(seq: Int?, enabled: Bool, frequent: Bool)
        case entity(seq: Int, Handle, Shape)
        case history(Handle, Shape)
        case list([Handle: Shape])
        case info(timers: Int, states: [String: Int])
        /// `{"ok":true,"now":…}`
        case now(Int64)
        /// Anything that a control may say.
        case control(ControlDeed)
        case group(GroupSay)
        /// What a read finds once the stream is so far.
        case awaited(AwaitedRead)
        /// The answer that was given first.
        case again(client: String, req: String)
    }

    package var say: Say
    package var req: String?
    /// What must be durable before this answer leaves: everything before this place in the order of things.
    package var shows: Int
    /// The domain time of the execution.
    package var executedAt: Int64
    /// Which execution of the pair of client and `req` it is about: its owner's note.
    package var execution = ""

    package var isAccepted: Bool {
        switch say {
        case .refused, .held: false
        case .applied, .ignored, .settings, .entity, .history, .list, .info, .now, .control, .group, .awaited,
            .again:
            true
        }
    }
}
