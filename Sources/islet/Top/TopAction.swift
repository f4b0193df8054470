import IsletClient

/// A change that a person makes from a row of a top, once they have confirmed it.
package struct TopAction: Sendable, Hashable {
    package enum Verb: Sendable, Hashable, CaseIterable {
        case end, dismiss, reload

        /// As the present and as the past say it: `end`, `ended`.
        package var words: (present: String, past: String) {
            switch self {
            case .end: ("end", "ended")
            case .dismiss: ("dismiss", "dismissed")
            case .reload: ("reload", "asked for anew")
            }
        }

        /// Whether it is for what a tab lists.
        func applies(to tab: TopTab) -> Bool {
            switch (self, tab) {
            case (.end, .activities), (.dismiss, .activities), (.reload, .controls), (.reload, .widgets): true
            case (.end, _), (.dismiss, _), (.reload, _): false
            }
        }
    }

    let verb: Verb
    /// The tab of its entity.
    let tab: TopTab
    let app: String
    let id: String
    /// What a person calls it.
    let name: String
    /// What the row showed: what has changed since is left as it is.
    let revision: UInt64?
    let state: String

    /// The action for a row; nil where the row is of nothing that it is for.
    init?(_ verb: Verb, _ row: TopRow, in tab: TopTab) {
        let about = tab.subject(of: row.object)
        guard verb.applies(to: about), let app = row.object["app"]?.string, let id = row.object["id"]?.string else {
            return nil
        }
        self.verb = verb
        self.tab = about
        self.app = app
        self.id = id
        // By its key alone nobody tells devices apart.
        let place = row.object["device"]?.string.map { " on \($0)" } ?? ""
        name = (tab == .problems ? tab.name(row.object) : "\(about.family ?? "") \(about.name(row.object))") + place
        revision = row.object["revision"]?.unsigned
        state = row.state
    }

    /// Such as `end activity order-7 of com.example.pizza? y: yes, any other key: no`.
    var question: String { "\(verb.words.present) \(name) of \(app)? y: yes, any other key: no" }

    /// The command that makes it, of the revision that was shown or looked up since.
    func command(revision: UInt64?) -> Command {
        var command = Command("\(tab.family ?? "").\(verb.words.present)", app: app, ["id": .string(id)])
        switch verb {
        case .end, .dismiss: command["ifRevision"] = revision.map { .integer(Int64(clamping: $0)) }
        case .reload: break
        }
        return command
    }
}

extension TopSource {
    /// Does what was confirmed, and says in a sentence what came of it.
    func perform(_ action: TopAction) async -> String {
        do throws(IsletError) {
            let connection = try await changing()
            var revision = action.revision
            if revision == nil {
                // A row of a problem has none: what is in another state by now is left as it is.
                let get = Command("\(action.tab.family ?? "").get", app: action.app, ["id": .string(action.id)])
                let entity = EntityText.entity(try await connection.send(get, timeout: Self.patience))
                let state = entity?["state"]?.string ?? "gone"
                guard state == action.state else { return "\(action.name) is \(state) by now: nothing was done" }
                revision = entity?["revision"]?.unsigned
            }
            let answer = try await connection.send(action.command(revision: revision), timeout: Self.patience)
            guard answer["outcome"]?.string != "ignored" else {
                return "\(action.name): nothing was done, \(answer["reason"]?.string ?? "it was ignored")"
            }
            return "\(action.name) was \(action.verb.words.past)"
        } catch {
            if case .refused(let refusal) = error, refusal.code == .conflict {
                return "\(action.name) has changed meanwhile: nothing was done"
            }
            return "\(action.name): \(error)"
        }
    }
}
