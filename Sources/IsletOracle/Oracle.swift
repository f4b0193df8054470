/// The service in its plainest form: what was accepted, in order, and every question answered by telling the lives again.
///
/// It imports nothing, so it shares no code with what it judges. Everything that happened has a place in one order; a
/// crash cuts the order where the disk's content ends, and what was after it has not happened.
package final class Oracle {
    package let rules: OracleRules
    /// Domain time.
    package internal(set) var now: Int64
    /// The place of the next thing that happens.
    package internal(set) var order = 0
    /// The place behind the last thing that has an effect.
    package internal(set) var lastEffect = 0
    var citizens: [Handle: Citizen] = [:]
    /// In the order of starting.
    var handles: [Handle] = []
    var switches: [SwitchChange] = []
    var backgrounds: [BackgroundChange] = []
    var locks: [LockChange] = []
    /// Of widgets' devices.
    var conditions: [ConditionChange] = []
    /// When devices reported a change of their locale or appearance.
    var changes: [(at: Int64, device: String, name: String)] = []
    var memories: [MemoryKey: Memory] = [:]
    /// What was forgotten before its command was executed again, the last behind: a crash that takes the latter back lets the
    /// former be known.
    var earlierMemories: [MemoryKey: [Memory]] = [:]
    /// What is remembered longer: commits were held back, and who waits sends again.
    package internal(set) var hold = Hold()
    /// The highest number of each client that was forgotten.
    var forgottenNumbers: [String: Int] = [:]
    /// The same over all restarts: an answer may be remembered longer after a restart, as its batch was closed later, and
    /// whether what was forgotten before is known depends on what of it was written.
    var everForgotten: [String: Int] = [:]
    var seqs: [String: Int] = [:]
    /// The same, of answers that were pruned.
    var prunedNumbers: [String: Int] = [:]
    /// The events of activities that were pruned.
    var baseSeqs: [String: Int] = [:]
    var ids: [Handle: String] = [:]
    /// Whom pruned activities renewed.
    var prunedRenewals: [Handle: Handle] = [:]
    /// The passages of the present call, in order within each activity.
    var happened: [(handle: Handle, passage: Passage)] = []
    var nextHandle = 0
    var groupBook = GroupBook()
    /// The events of groups that nobody took yet.
    var tellings: [GroupTelling] = []

    package init(_ rules: OracleRules, now: Int64) {
        self.rules = rules
        self.now = now
    }

    /// One activity with everything that is known of it.
    struct Citizen {
        let birth: Birth
        let bornAt: Int64
        let order: Int
        var entries: [LifeEntry] = []
        var life: Life
        var isForgotten = false
    }

    struct SwitchChange {
        var order: Int
        var app: String
        var device: String?
        var enabled: Bool?
        var frequent: Bool?
        /// The device's own settings go.
        var isUninstall = false
    }

    struct BackgroundChange {
        var order: Int
        var app: String
        var device: String
        var isBackground: Bool
    }

    struct LockChange {
        var order: Int
        var device: String
        var isLocked: Bool
    }

    struct MemoryKey: Hashable {
        var client: String
        var req: String
    }

    struct Memory {
        var order: Int
        var at: Int64
        /// The date of its batch, which is the answer's date after a restart.
        var batchAt: Int64?
        var bytes: [UInt8]
        var isForgotten = false
    }

    // MARK: Time

    /// The service looks at the clock: what is due takes effect.
    ///
    /// - Returns: the passages, in order within each activity.
    package func look(at time: Int64) -> [(handle: Handle, passage: Passage)] {
        now = max(now, time)
        happened = []
        for handle in handles {
            guard let citizen = citizens[handle], let due = citizen.life.shape.due(rules), due.at <= now else {
                continue
            }
            add(.time, to: handle, nil)
        }
        return happened
    }

    /// The earliest date at which something moves by itself.
    package var nextDue: Int64? { citizens.values.compactMap { $0.life.shape.due(rules)?.at }.min() }

    /// How many timers must be armed.
    package var timers: Int { citizens.values.count { $0.life.shape.due(rules) != nil } }

    /// What was retained long enough is forgotten.
    ///
    /// - Returns: whether there was anything to forget.
    @discardableResult
    package func forgetRetained() -> Bool {
        var isAny = false
        for handle in handles {
            guard let when = citizens[handle]?.life.dismissedWhen, citizens[handle]?.isForgotten == false,
                when + rules.retention <= now
            else { continue }
            citizens[handle]?.isForgotten = true
            isAny = true
        }
        return isAny
    }

    /// Whether an activity is still retained at a time, whoever has looked since.
    package func isRetained(_ handle: Handle, at time: Int64) -> Bool {
        guard let citizen = citizens[handle], !citizen.isForgotten else { return false }
        return citizen.life.dismissedWhen.map { $0 + rules.retention > time } ?? true
    }

    /// Whether something was retained long enough.
    package var hasForgettable: Bool {
        citizens.values.contains { citizen in
            guard !citizen.isForgotten, let when = citizen.life.dismissedWhen else { return false }
            return when + rules.retention <= now
        }
    }

    /// Answers that were given after a time are remembered at least until another.
    package struct Hold {
        package var after = Int64.max
        package var until = Int64.min

        package init() {}
    }

    /// A commit has been held back since a time: nobody is told what waits for it.
    package func keepAnswers(at time: Int64, since begin: Int64) {
        if hold.until <= begin { hold.after = begin - rules.remembers }
        hold.until = max(hold.until, time + rules.remembers)
    }

    func isOver(_ memory: Memory, at time: Int64, _ hold: Hold) -> Bool {
        let end = memory.at + rules.remembers
        return (memory.at > hold.after ? max(end, hold.until) : end) <= time
    }

    /// A turn ends: answers are forgotten that were remembered long enough.
    package func forgetAnswers(at time: Int64) {
        for (key, memory) in memories where !memory.isForgotten && isOver(memory, at: time, hold) {
            memories[key]?.isForgotten = true
            forgetNumber(of: key)
        }
    }

    static func number(_ req: String) -> Int? { Int(req.drop { !$0.isNumber }) }
    static func stem(_ req: String) -> String { String(req.prefix { !$0.isNumber }) }

    // MARK: Making things happen

    func bear(_ birth: Birth, id: String?) -> Handle {
        let handle = nextHandle
        nextHandle += 1
        let life = Life(birth, [], bornAt: now, rules)
        citizens[handle] = Citizen(birth: birth, bornAt: now, order: order, life: life)
        ids[handle] = id
        handles.append(handle)
        tookEffect()
        note(life.passages, of: handle)
        return handle
    }

    func add(_ deed: Deed, to handle: Handle, _ asker: Asker?) {
        guard var citizen = citizens[handle] else { return }
        citizen.entries.append(LifeEntry(at: now, order: order, deed: deed, asker: asker))
        let known = citizen.life.passages.count
        // From scratch, each time.
        citizen.life = Life(citizen.birth, citizen.entries, bornAt: citizen.bornAt, rules)
        citizens[handle] = citizen
        tookEffect()
        note(citizen.life.passages.dropFirst(known), of: handle)
    }

    /// Signs of life are heard from now on, which they were not before: silence counts from here. Nobody writes that down,
    /// so it has no place of its own in the order of things.
    package func hear(at time: Int64) {
        guard rules.hearsSilence else { return }
        for handle in handles {
            guard var citizen = citizens[handle], citizen.life.shape.state.isOpen else { continue }
            // Nothing happened to it between two of them, which many turns of one long commit make.
            if case .heard? = citizen.entries.last?.deed { citizen.entries.removeLast() }
            citizen.entries.append(LifeEntry(at: time, order: order, deed: .heard))
            citizen.life = Life(citizen.birth, citizen.entries, bornAt: citizen.bornAt, rules)
            citizens[handle] = citizen
        }
    }

    private func note(_ passages: some Sequence<Passage>, of handle: Handle) {
        guard let app = citizens[handle]?.birth.app else { return }
        for passage in passages {
            seqs[app, default: 0] += 1
            happened.append((handle, passage))
        }
    }

    func tookEffect() {
        order += 1
        lastEffect = order
    }

    /// Something happened that nobody can see but a retry.
    func noteMemory(_ key: MemoryKey, _ bytes: [UInt8]) {
        if let forgotten = memories[key] { earlierMemories[key, default: []].append(forgotten) }
        memories[key] = Memory(order: order, at: now, bytes: bytes)
        tookEffect()
    }

    /// The last sequence number of an app.
    package func seq(_ app: String) -> Int { seqs[app] ?? 0 }
}
