/// All machines of one partition, with their timers, names and payloads: the pure core of the service.
///
/// It is a function of its inputs and their times. A command or a date comes in, the machines decide, and what follows
/// for the outside stands in ``events`` until the owner has taken it. It reads no clock, draws no random number, does no
/// I/O, and traps only on bugs of its own.
///
/// The owner's round: ``fireDue(at:dating:limit:)``, then any number of ``apply(_:of:at:freshID:)``, after each of them
/// encode the ``events`` and call ``releaseEvents()``.
package struct Engine: ~Copyable {
    package let rules: RuleSet
    package internal(set) var apps = AppTable()
    package internal(set) var devices = DeviceTable()
    var activities = Slab<ActivityRecord>()
    var payloads = PayloadStore()
    var wheel: TimerWheel
    /// From an id to its slot, listed or retained.
    var byID = SlotIndex()
    /// From (app, device, key) to the newest activity that was started with it.
    var byKey = SlotIndex()
    /// Neighbours of activities that were started with the same key one after another.
    var keyNeighbours: [Slot: KeyNeighbours] = [:]
    var renewals: [Slot: RenewalLinks] = [:]
    /// The neighbours of activities that are on a device.
    var deviceLinks = SlotColumn(unset: DeviceLinks())
    /// The relevance scores that are not 0.
    var relevanceScores = SlotColumn(unset: 0.0)
    var retained = RetentionQueue()
    /// Those that were forgotten but for their keys, which are muted for longer.
    var muted = RetentionQueue()
    var sweep = SettingsSweep()
    var decisions = DecisionLog<Decision>()
    /// Placed controls and their kinds.
    package var controls: ControlTable
    /// Placed widgets and their kinds.
    package var widgets: WidgetTable
    /// What app groups share.
    package var groups = GroupTable()
    /// Digests that are being computed over several turns; told of every change.
    var digestScans: [DigestScan] = []
    var startOrdinal: UInt64 = 0
    /// How often actions were said to have ended that were given up before this process took over.
    var interruptedEnds = 0
    /// How many activities, controls and widgets of devices were looked at since ``beginTurn()``, because of what devices
    /// report and of settings: the owner bounds what a turn does by it.
    package internal(set) var visits = 0
    /// Where domain time stood when the service ran last. What is due before and did not take effect then was not due by
    /// the rules of that time: those of today make it due, and not earlier than now.
    package var ranUntil = Instant(0)
    /// When the service began with other rules than it ran by before: the deadlines that follow from these alone, and that
    /// were due before ``ranUntil``, were set then.
    package var rulesSetAt = Instant(0)
    /// When no sign of life could be heard last. Where its end moves, timers that are armed stay as they are: at their dates
    /// nothing is due, and they are armed anew.
    package var unheard = Unheard.never
    /// Listed entities of all apps.
    package internal(set) var entityCount = 0
    /// How many activities are in each state, by the state's raw value; dismissed counts the retained ones.
    package internal(set) var countByState = [0, 0, 0, 0, 0]

    /// The activities, free slots among them, that changed since a snapshot wrote them.
    package var changedSlots = ChangedSlots()
    /// The apps that did.
    package internal(set) var changedApps: [AppID] = []
    /// What is known of apps on devices that did.
    package var changedAppsOnDevices: Set<AppOnDevice> = []
    /// The devices, by name, of which the snapshot may have all apps in one fact, as releases have written it. What they
    /// have is among ``changedAppsOnDevices``, and is written before that one is forgotten.
    package var formerDevices: Set<[UInt8]> = []
    /// Whether anybody writes down what changed without an event.
    package var isJournalled = false
    /// What changed without an event since the last ``releaseNotes()``, in order.
    package internal(set) var notes: [EngineNote] = []

    /// What happened since the last ``releaseEvents()``, in order.
    package internal(set) var events: [ActivityEvent] = []
    /// What taps in ``events`` name.
    package internal(set) var interactionBytes: [UInt8] = []

    /// Never set: it is here for its type. A struct with an existential in it is passed by its address; without one, the
    /// compiler copied the engine's 1.4 kB to the stack for every borrow from a class (six times an update, seen in the
    /// machine code of `encodeEvents` and `applied`), because it could change there during the call.
    private let passesByAddress: (any Sendable)? = nil

    /// - Parameters:
    ///   - rules: the limits; they do not change while the engine lives.
    ///   - start: where domain time begins; no deadline is earlier.
    package init(rules: RuleSet, start: Instant) {
        self.rules = rules
        wheel = TimerWheel(start: start)
        controls = ControlTable(start: start)
        widgets = WidgetTable(start: start)
        events.reserveCapacity(1_024)
    }

    /// The earliest date at which ``fireDue(at:dating:limit:)`` has something to do; `never` where nothing is armed.
    package func nextWork() -> Instant {
        if isSweeping { return Instant(0) }
        return min(
            wheel.nextWork(), controls.wheel.nextWork(), widgets.wheel.nextWork(), retained.nextExpiry,
            muted.nextExpiry)
    }

    /// How many timers are armed.
    package var armedTimers: Int { wheel.armedCount + controls.wheel.armedCount + widgets.wheel.armedCount }

    /// The events were encoded: dismissed activities give back their payloads, and those that are no longer scheduled the
    /// alert of their start.
    package mutating func releaseEvents() {
        // By indices: to go through the array itself counts one holder more.
        for index in events.indices {
            if events[index].before?.state == .pending { releaseAlert(events[index].slot) }
            if events[index].name == .dismissed { releasePayloads(events[index].slot) }
        }
        events.removeAll(keepingCapacity: true)
        interactionBytes.removeAll(keepingCapacity: true)
        if !controls.events.isEmpty { releaseControlEvents() }
        if !groups.events.isEmpty { releaseGroupEvents() }
        if !widgets.events.isEmpty { releaseWidgetEvents() }
    }

    /// Whether anything happened that was not released.
    package var hasEvents: Bool {
        !events.isEmpty || !controls.events.isEmpty || !widgets.events.isEmpty || !groups.events.isEmpty
    }

    /// How many events of all families were made and are not released.
    var eventCount: Int { events.count + controls.events.count + widgets.events.count + groups.events.count }

    /// The owner's turn begins.
    package mutating func beginTurn() { visits = 0 }

    /// The notes were written.
    package mutating func releaseNotes() {
        notes.removeAll(keepingCapacity: true)
    }

    /// The apps that changed since a snapshot wrote them; they count as written.
    package mutating func takeChangedApps(_ count: Int) -> ArraySlice<AppID> {
        let taken = changedApps.prefix(count)
        for app in taken { apps[app].isChanged = false }
        changedApps.removeFirst(taken.count)
        return taken
    }

    /// What a command came to.
    package enum Outcome: Equatable, Sendable {
        /// Executed; the activity that the answer shows, where there is one.
        case applied(SlotRef?)
        /// Dropped as ActivityKit drops it, with the reason.
        case ignored(SlotRef, IgnoreReason)
        /// A read found this.
        case found(SlotRef)
        case refused(Refusal)
    }

    /// Who asked: what events and decisions remember of the present command.
    struct Asker {
        var envelope: Envelope
        var isCommand: Bool

        static let nobody = Asker(envelope: Envelope(), isCommand: false)
    }
}
