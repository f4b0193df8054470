/// What can be asked of the world.
extension Oracle {
    package func id(_ handle: Handle) -> String? { ids[handle] }

    /// The service told which id it gave.
    package func learn(_ id: String, of handle: Handle) { ids[handle] = id }

    package func app(_ handle: Handle) -> String? { citizens[handle]?.birth.app }

    package func topic(_ handle: Handle) -> String? {
        guard let citizen = citizens[handle], let id = ids[handle] else { return nil }
        return "\(citizen.birth.app)/activity/\(citizen.birth.type)/\(id)"
    }

    package func shape(_ handle: Handle) -> Shape? { citizens[handle]?.life.shape }

    /// The activities that can be read, in the order of starting.
    package var known: [Handle] { handles.filter { citizens[$0]?.isForgotten == false } }

    /// The listed activities of an app.
    package func listed(_ app: String) -> [Handle] {
        handles.filter { handle in
            guard let citizen = citizens[handle] else { return false }
            return citizen.birth.app == app && citizen.life.shape.state.isListed
        }
    }

    /// How many activities are in each state, as `service.info` counts them.
    var states: [String: Int] {
        var counts = ["pending": 0, "active": 0, "stale": 0, "ended": 0, "dismissed": 0]
        for citizen in citizens.values where !citizen.isForgotten {
            counts[citizen.life.shape.state.rawValue, default: 0] += 1
        }
        return counts
    }

    func find(_ target: OracleCommand.Target, _ app: String, onlyOpen: Bool = false) -> Handle? {
        switch target {
        case .id(let id): return known.last { ids[$0] == id && citizens[$0]?.birth.app == app }
        case .key(let key, let device):
            guard let newest = newest(app, key, device) else { return nil }
            return onlyOpen && citizens[newest]?.life.shape.state.isOpen != true ? nil : newest
        }
    }

    /// The newest retained activity that was started with a key.
    func newest(_ app: String, _ key: String, _ device: String?) -> Handle? {
        handles.last { handle in
            guard let citizen = citizens[handle], !citizen.isForgotten else { return false }
            return citizen.birth.app == app && citizen.birth.key == key && citizen.birth.device == device
        }
    }

    /// Until when a key is muted: the last that had it was dismissed by a person, whether it is still retained or not.
    func muted(_ app: String, _ key: String, _ device: String?) -> Int64? {
        let last = handles.last { handle in
            guard let birth = citizens[handle]?.birth else { return false }
            return birth.app == app && birth.key == key && birth.device == device
        }
        return last.flatMap { muteEnd(of: $0) }
    }

    /// Until when the key of an activity is muted that a person dismissed.
    private func muteEnd(of handle: Handle) -> Int64? {
        guard let citizen = citizens[handle], citizen.birth.key != nil else { return nil }
        let shape = citizen.life.shape
        guard shape.state == .dismissed, shape.cause == "person" else { return nil }
        return rules.mute.flatMap { mute in shape.dismissAt.map { $0 + mute } }
    }

    /// Whether an id is taken, whichever app has it: by an activity that can be read, or by one of which only the key is
    /// known, which is muted.
    func isTaken(_ id: String) -> Bool {
        handles.contains { handle in
            guard ids[handle] == id, let citizen = citizens[handle] else { return false }
            return !citizen.isForgotten || muteEnd(of: handle).map { now < $0 } ?? false
        }
    }

    /// What is listed on a device.
    func listed(on device: String) -> [Handle] {
        handles.filter { handle in
            guard let citizen = citizens[handle] else { return false }
            return citizen.birth.device == device && citizen.life.shape.state.isListed
        }
    }

    /// What holds for an app on a device: the changes in their order, from the first one on.
    func settings(_ app: String, _ device: String?) -> (enabled: Bool, frequent: Bool) {
        let (all, own) = switches(app, device)
        return (own.enabled ?? all.enabled, own.frequent ?? all.frequent)
    }

    /// What a device says of its own, as far as it differs from what holds for all.
    func own(_ app: String, _ device: String) -> (enabled: Bool?, frequent: Bool?) {
        let (all, own) = switches(app, device)
        return (own.enabled == all.enabled ? nil : own.enabled, own.frequent == all.frequent ? nil : own.frequent)
    }

    private func switches(
        _ app: String, _ device: String?
    ) -> (all: (enabled: Bool, frequent: Bool), own: (enabled: Bool?, frequent: Bool?)) {
        var all = (enabled: true, frequent: true)
        var own: (enabled: Bool?, frequent: Bool?) = (nil, nil)
        for change in switches where change.app == app {
            if change.device == nil {
                // What is set for all overrides what was said of one device before.
                if let enabled = change.enabled { (all.enabled, own.enabled) = (enabled, nil) }
                if let frequent = change.frequent { (all.frequent, own.frequent) = (frequent, nil) }
            } else if change.device == device {
                if change.isUninstall { own = (nil, nil) }
                own.enabled = change.enabled ?? own.enabled
                own.frequent = change.frequent ?? own.frequent
            }
        }
        return (all, own)
    }

    func isInBackground(_ app: String, _ device: String) -> Bool {
        backgrounds.last { $0.app == app && $0.device == device }?.isBackground ?? false
    }

    /// An activity as `get` shows it, or as its event leaves it.
    package func entity(_ handle: Handle, _ shape: Shape, isRead: Bool) -> [String: JSON] {
        guard let citizen = citizens[handle] else { return [:] }
        let birth = citizen.birth
        var members: [String: JSON] = [
            "id": .string(ids[handle] ?? "?"), "app": .string(birth.app), "type": .string(birth.type),
            "state": .string(shape.state.rawValue), "revision": .integer(Int64(shape.revision)),
            "attributes": .raw(birth.attributes), "relevanceScore": .score(shape.relevance),
            "style": .string(birth.isTransient ? "transient" : "standard"), "timestamp": .integer(shape.stamp),
            "cause": .string(shape.cause),
        ]
        members["key"] = birth.key.map { .string($0) }
        members["device"] = birth.device.map { .string($0) }
        // A dismissed one stays readable without its content.
        if !isRead || shape.state.isListed { members["contentState"] = .raw(shape.content) }
        members["staleDate"] = shape.staleDate.map { .integer($0) }
        members["pushType"] = birth.pushType.map { .raw($0) }
        if birth.startDate != nil { members["startDate"] = .integer(shape.startedAt) }
        if shape.state != .pending, shape.state != .dismissed || shape.endedAt != nil {
            members["startedAt"] = .integer(shape.startedAt)
        }
        members["endedAt"] = shape.endedAt.map { .integer($0) }
        members["dismissAt"] = shape.dismissAt.map { .integer($0) }
        if shape.state.runs { members["expiresAt"] = .integer(shape.startedAt + rules.activeLimit) }
        members["next"] = next(shape)
        members["renews"] = birth.renews.flatMap { id($0) }.map { .string($0) }
        members["renewedBy"] = shape.renewedBy.flatMap { id($0) }.map { .string($0) }
        return members
    }

    /// The short form that answers to changes carry.
    package func short(_ handle: Handle, _ shape: Shape) -> [String: JSON] {
        var members: [String: JSON] = [
            "id": .string(id(handle) ?? "?"), "revision": .integer(Int64(shape.revision)),
            "state": .string(shape.state.rawValue),
        ]
        members["next"] = next(shape)
        let renews = citizens[handle]?.birth.renews ?? prunedRenewals[handle]
        members["renews"] = renews.flatMap { id($0) }.map { .string($0) }
        return members
    }

    private func next(_ shape: Shape) -> JSON? {
        shape.due(rules).map { .object(["at": .integer($0.at), "cause": .string($0.cause)]) }
    }
}

extension Oracle {
    /// How an activity stood after one of its passages; nil before its first.
    package func shape(_ handle: Handle, revision: Int) -> Shape? {
        guard let passages = citizens[handle]?.life.passages, revision > 0, revision <= passages.count else {
            return nil
        }
        return passages[revision - 1].shape
    }

    package func birthApp(_ handle: Handle) -> String? { citizens[handle]?.birth.app }
    package func renews(_ handle: Handle) -> Handle? { citizens[handle]?.birth.renews }
    package func renewedBy(_ handle: Handle) -> Handle? { citizens[handle]?.life.shape.renewedBy }

    /// Whether an answer is remembered for a pair.
    package func remembers(client: String, req: String) -> Bool {
        memories[MemoryKey(client: client, req: req)]?.isForgotten == false
    }

    /// Whether it is open what becomes of a repeated command: its number was forgotten before a restart, and is not by
    /// what is certain to be written.
    package func isOpen(client: String, req: String) -> Bool {
        guard !remembers(client: client, req: req), let number = Self.number(req) else { return false }
        let name = client + Self.stem(req)
        return number <= everForgotten[name] ?? -1 && number > forgottenNumbers[name] ?? -1
    }

    /// The revisions of an app's listed activities and keys, by topic.
    package func listedRevisions(_ app: String) -> [String: Int] {
        var revisions: [String: Int] = [:]
        for handle in listed(app) { revisions[topic(handle) ?? ""] = shape(handle)?.revision ?? 0 }
        for (topic, key) in listedGroupKeys(app) { revisions[topic] = Int(key["revision"]?.integer ?? 0) }
        return revisions
    }

    /// A settings question for the checks.
    package func settingsHold(_ app: String, _ device: String?) -> (enabled: Bool, frequent: Bool) {
        settings(app, device)
    }
}

extension Passage {
    /// The successor that this passage names.
    package var renewedBy: Handle? { shape.renewedBy }
}

extension Oracle {
    /// Domain time goes on, and nobody looks.
    package func setTime(_ time: Int64) { now = max(now, time) }

    /// The newest activity with an id.
    package func handle(id: String) -> Handle? { handles.last { ids[$0] == id } }

    /// All activities that ever had an id, in the order of starting: one that was forgotten makes room for another.
    package func handles(id: String) -> [Handle] { handles.filter { ids[$0] == id } }

    /// The ids of an app's activities that the service has told, in the order of starting.
    package func knownIDs(_ app: String) -> [String] {
        known.compactMap { citizens[$0]?.birth.app == app ? ids[$0] : nil }
    }
}
