import IsletClient

extension ScenarioPlay {
    /// Why an entity is not as expected; nil where it is.
    mutating func failure(
        _ check: ScenarioCheck, _ subject: ScenarioSubject, _ state: ScenarioState
    ) async throws -> ScenarioFailure? {
        var entity = try await entity(subject)
        if entity == nil, case .gone = state { entity = try await anywhere(subject) }
        if let id = entity?["id"]?.string {
            self.subject = (subject.family, try subject.app.json(scope).string ?? scenario.defaults.app, id)
        }
        let title = "\(subject.family) \(subject.title)"
        switch (state, entity) {
        case (.gone, nil): return nil
        case (.gone, let entity?):
            let device = subject.device == nil ? entity["device"]?.string.map { " on \($0)" } : nil
            return ScenarioFailure(
                place: check.place,
                message: "\(title) is still there: \(entity["state"]?.string ?? "?")\(device ?? "")", came: entity.json)
        case (.members, nil):
            return ScenarioFailure(place: check.place, message: "there is no \(title)")
        case (.members(let members), let entity?):
            let differences = try ScenarioPattern.members(members).differences(from: entity.json, scope)
            guard !differences.isEmpty else { return nil }
            return ScenarioFailure(
                place: check.place, message: "\(title) is not as expected", differences: differences,
                came: entity.json)
        }
    }

    /// The entity as it is now; nil where there is none.
    private func entity(_ subject: ScenarioSubject) async throws -> RawObject? {
        let name = try subject.name.json(scope)
        let app = try subject.app.json(scope)
        let device = try subject.device?.json(scope)
        let text = name.string ?? ""
        var isReference = false
        if case .reference = subject.name { isReference = true }
        // A key may have the form of an id.
        let isID = isReference || subject.isKey != true && EntityText.isID(text)
        if isID {
            let found = try await get(subject.family, ["app": app, "id": .string(text.lowercased())])
            if found != nil || subject.isKey == false || subject.family != "activity" { return found }
        }
        if subject.family == "activity" {
            var fields: RawObject = ["app": app, "key": name]
            fields["device"] = device
            return try await get("activity", fields)
        }
        let rows = try await rows(subject.family, kind: name, app: app.string ?? "", device: device)
        guard rows.count < 2 else { throw ScenarioMiss(Self.several(rows.count, subject.family, text)) }
        return rows.first
    }

    /// An activity of a key on whatever device, where none is named: what is gone is gone from all.
    private func anywhere(_ subject: ScenarioSubject) async throws -> RawObject? {
        guard subject.family == "activity", subject.device == nil else { return nil }
        let key = try subject.name.json(scope)
        // Those that a person does not see any more stand only in a list of their own.
        for state in [nil, "dismissed"] as [String?] {
            var cursor: RawJSON?
            repeat {
                var command: RawObject = [
                    "op": .string("activity.list"), "app": try subject.app.json(scope), "key": key,
                    "limit": .integer(1_000),
                ]
                command["state"] = state.map(RawJSON.string)
                command["cursor"] = cursor
                let answer = try await link.ask(command)
                if let error = answer["error"]?.object {
                    throw ScenarioMiss("activities cannot be listed: \(error["message"]?.string ?? "?")")
                }
                // A list is of all keys that begin so.
                let rows = answer["activities"]?.elements?.compactMap(\.object) ?? []
                if let found = rows.first(where: { $0["key"]?.string == key.string }) { return found }
                cursor = answer["next"]
            } while cursor != nil
        }
        return nil
    }

    /// Asks for what the first events of entities told before there was this scenario.
    func learn(since begun: Int) async throws {
        for address in link.events.strangers(since: begun) {
            let answer = try await link.ask([
                "op": .string("\(address.family).get"), "app": .string(address.app), "id": .string(address.id),
            ])
            link.events.learn(address, answer[address.family]?.object)
        }
    }

    private func get(_ family: String, _ fields: RawObject) async throws -> RawObject? {
        var command: RawObject = ["op": .string("\(family).get")]
        for member in fields.members { command[member.name] = member.value }
        let answer = try await link.ask(command)
        if let error = answer["error"]?.object {
            guard error["code"]?.string == "notFound" else {
                throw ScenarioMiss("it cannot be read: \(error["message"]?.string ?? "?")")
            }
            return nil
        }
        guard let entity = answer[family]?.object, entity["state"]?.string != "removed" else { return nil }
        return entity
    }

    /// At most two of a kind.
    func rows(_ family: String, kind: RawJSON, app: String, device: RawJSON?) async throws -> [RawObject] {
        var command: RawObject = [
            "op": .string("\(family).list"), "app": .string(app), "kind": kind, "limit": .integer(2),
        ]
        command["device"] = device
        let answer = try await link.ask(command)
        if let error = answer["error"]?.object {
            throw ScenarioMiss("\(family)s cannot be listed: \(error["message"]?.string ?? "?")")
        }
        return answer[family + "s"]?.elements?.compactMap(\.object) ?? []
    }
}
