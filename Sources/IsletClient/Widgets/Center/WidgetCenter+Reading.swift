public import FoundationEssentials

/// What the service knows of timelines, of what reloads may cost, and of the order on a device.
extension WidgetCenter {
    /// The timeline of a widget; nil where there is no widget of that id.
    ///
    /// - Parameter date: also what it shows then, as far as that is known now; nil: only the timeline.
    public func timeline(of id: String, at date: Date? = nil) async throws(IsletError) -> WidgetTimeline? {
        var fields: RawObject = ["id": .string(id)]
        fields["at"] = date?.json
        guard let answer = try await found("widget.timeline", fields) else { return nil }
        guard let timeline = answer["timeline"]?.object else {
            throw .unreadable("no timeline in the answer")
        }
        return WidgetTimeline(timeline, at: answer["at"]?.object)
    }

    /// The ledger of a widget's reloads; nil where there is no widget of that id.
    public func budget(of id: String) async throws(IsletError) -> WidgetBudget? {
        guard let answer = try await found("widget.budget", ["id": .string(id)]) else { return nil }
        guard let budget = answer["budget"]?.object.flatMap(WidgetBudget.init) else {
            throw .unreadable("no budget in the answer")
        }
        return budget
    }

    /// The Smart Stack of a device, of the widgets of all apps: the one on top first. Empty where it has none.
    public func smartStack(of device: String) async throws(IsletError) -> [SmartStackRow] {
        let answer = try await Islet.current().connection.send(Command("widget.stack", ["device": .string(device)]))
        guard let rows = answer["stack"]?.elements else { throw .unreadable("no stack in the answer") }
        return rows.compactMap(\.object).compactMap(SmartStackRow.init)
    }

    /// An answer, or nil where what is named is not there.
    private func found(_ op: String, _ fields: RawObject) async throws(IsletError) -> Answer? {
        do throws(IsletError) {
            return try await send(op, fields)
        } catch {
            if error.code == .notFound { return nil }
            throw error
        }
    }
}
