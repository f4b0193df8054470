import IsletCore
import IsletProtocol

/// Lists by name: what is declared, and by whom. A cursor names the last row of the page before, so that it holds whatever
/// comes, goes or is restarted meanwhile.
extension Partition {
    /// `control.kinds`: what is declared for an app, and by how many it is provided.
    func list(_ list: KindList, _ envelope: Envelope, _ frame: Span<UInt8>) -> FrameResult {
        answerFromEngine { writer, engine in
            writer.beginAnswer(envelope, frame, ok: true)
            writer.kinds(list, of: engine.controls.kinds, engine.apps.find(list.app, of: frame), frame) {
                writer, number, kind, declaration in
                writer.field("declaration", raw: declaration.json.span)
                writer.field("providers", providers.providers(of: ControlKindID(number)).count)
                writer.field("controls", kind.placed)
            }
            writer.endObject()
        }
    }

    /// `widget.kinds`: the same of widgets.
    func listWidgetKinds(_ list: KindList, _ envelope: Envelope, _ frame: Span<UInt8>) -> FrameResult {
        if isAnswerFull { return refuse(envelope, frame, .busy(retryAfter: Self.fullAnswerRetry)) }
        return answerFromEngine { writer, engine in
            writer.beginAnswer(envelope, frame, ok: true)
            writer.kinds(list, of: engine.widgets.kinds, engine.apps.find(list.app, of: frame), frame) {
                writer, number, kind, declaration in
                writer.field("declaration", raw: declaration.json.span)
                writer.field("providers", providers.providers(of: ServedKind.widget(number).number).count)
                writer.field("widgets", kind.placed)
            }
            writer.endObject()
        }
    }

    /// `provider.list`.
    func list(_ list: ProviderList, _ envelope: Envelope, _ frame: Span<UInt8>) -> FrameResult {
        let ids = providers.ids(after: list.cursor)
        return answerFromEngine { writer, engine in
            writer.beginAnswer(envelope, frame, ok: true)
            let end = writer.page("providers", of: ids, limit: list.limit) { writer, id in
                guard var provider = providers.provider(id).flatMap({ providers.statistics(of: $0) }) else { return false }
                provider.waiting += heldCalls(of: provider.kinds)
                writer.provider(provider, now: now.monotonic, of: engine)
                return true
            }
            writer.field("total", providers.providerCount)
            if let end { writer.field("next", end) }
            writer.endObject()
        }
    }
}

extension JSONWriter {
    /// The member with the rows of a page: as many as are asked for, and as a frame has room for.
    ///
    /// - Parameter row: writes the row of a name; false: it has none.
    /// - Returns: the name of the last row, where others follow it.
    fileprivate mutating func page<Name>(
        _ member: StaticString, of names: some Sequence<Name>, limit: Int?, row: (inout JSONWriter, Name) -> Bool
    ) -> Name? {
        key(member)
        beginArray()
        let begin = count
        var rows = 0
        var last: Name?
        for name in names {
            let start = count
            guard row(&self, name) else { continue }
            // The first stands there whatever its size: a page without a row would have no end.
            guard rows < limit ?? .max, rows == 0 || count - begin <= ListBounds.maximumBytes else {
                truncate(to: start)
                endArray()
                return last
            }
            rows += 1
            last = name
        }
        endArray()
        return nil
    }

    /// The members of `control.kinds` and `widget.kinds`.
    ///
    /// - Parameter row: writes what a row says beside the kind's name.
    fileprivate mutating func kinds<Declaration: KindDeclaration>(
        _ list: KindList, of table: borrowing DeclaredKindTable<Declaration>, _ app: AppID?, _ frame: Span<UInt8>,
        row: (inout JSONWriter, DeclaredKindID, DeclaredKind<Declaration>, Declaration) -> Void
    ) {
        let names = app.map { table.kinds(of: $0, after: list.cursor.map { frame.bytes($0) }) } ?? []
        let end = page("kinds", of: names, limit: list.limit) { writer, number in
            let kind = table[number]
            guard let declaration = kind.declaration else { return false }
            writer.beginObject()
            writer.field("kind", plain: kind.name.span)
            row(&writer, number, kind, declaration)
            writer.endObject()
            return true
        }
        if let end { field("next", plain: table[end].name.span) }
    }

    /// One provider, as `provider.list` shows it; spans in milliseconds.
    fileprivate mutating func provider(
        _ provider: ProviderStatistics, now: Milliseconds, of engine: borrowing Engine
    ) {
        beginObject()
        field("id", provider.id)
        var controls: [ControlKindID] = []
        var widgets: [DeclaredKindID] = []
        for number in provider.kinds {
            switch ServedKind(number: number) {
            case .control(let kind): controls.append(kind)
            case .widget(let kind): widgets.append(kind)
            }
        }
        let app =
            controls.first.map { engine.controls.kinds.app(of: $0) }
            ?? widgets.first.map { engine.widgets.kinds.app(of: $0) }
        if let app { field("app", plain: engine.apps[app].name.span) }
        key("kinds")
        beginArray()
        for kind in controls {
            let name = engine.controls.kinds[kind].name
            plain(name.span)
        }
        endArray()
        if !widgets.isEmpty {
            key("widgets")
            beginArray()
            for kind in widgets {
                let name = engine.widgets.kinds[kind].name
                plain(name.span)
            }
            endArray()
        }
        switch provider.state {
        case .live: field("state", name: "live")
        case .draining: field("state", name: "draining")
        case .open(let span):
            field("state", name: "open")
            field("opensIn", span)
        case .halfOpen: field("state", name: "halfOpen")
        }
        field("capacity", provider.capacity)
        field("inFlight", provider.inFlight)
        field("waiting", provider.waiting)
        field("calls", provider.calls)
        field("failures", provider.failures)
        field("late", provider.late)
        field("unknown", provider.unknown)
        if let p50 = provider.latencies.quantile(0.5) { field("p50", p50) }
        if let p99 = provider.latencies.quantile(0.99) { field("p99", p99) }
        field("age", now - provider.registeredAt)
        field("silence", now - provider.lastHeard)
        endObject()
    }
}
