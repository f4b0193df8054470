/// What persons do with widgets, for whoever draws them.
extension WidgetCenter {
    /// Places a widget.
    ///
    /// - Parameters:
    ///   - configuration: what is configured; nil: the kind's defaults.
    ///   - rendering: how it is drawn, of what the kind says that it can be.
    ///   - device: whose it is; nil: of none.
    ///   - id: a UUID of one's own; nil: the service makes one.
    /// - Returns: its id.
    @discardableResult
    public func add(
        kind: String, family: WidgetFamily, configuration: (any ConfigurationIntent)? = nil,
        rendering: WidgetRendering? = nil, device: String? = nil, id: String? = nil
    ) async throws(IsletError) -> String {
        var fields: RawObject = ["kind": .string(kind), "family": .string(family.rawValue)]
        fields["configuration"] = try configuration?.json()
        fields["rendering"] = rendering?.json
        fields["device"] = device.map(RawJSON.string)
        fields["id"] = id.map(RawJSON.string)
        guard let id = try await send("widget.add", fields).widget?["id"]?.string else {
            throw .unreadable("no id of the widget in the answer")
        }
        return id
    }

    /// Gives a widget another configuration, after which its timeline is asked for; or lets it be drawn in another way.
    @discardableResult
    public func configure(
        _ id: String, configuration: (any ConfigurationIntent)? = nil, rendering: WidgetRendering? = nil
    ) async throws(IsletError) -> Answer.Outcome {
        var fields: RawObject = ["id": .string(id)]
        fields["configuration"] = try configuration?.json()
        fields["rendering"] = rendering?.json
        return try await outcome("widget.configure", fields)
    }

    /// Takes a widget away.
    @discardableResult
    public func remove(_ id: String) async throws(IsletError) -> Answer.Outcome {
        try await outcome("widget.remove", ["id": .string(id)])
    }

    /// A tap on the widget, or on a part of it that is a link: what is to be opened stands in the event.
    ///
    /// - Parameter link: the name of the link among those of the entry that is shown; nil: the widget as a whole.
    @discardableResult
    public func tap(_ id: String, link: String? = nil) async throws(IsletError) -> Answer.Outcome {
        var fields: RawObject = ["id": .string(id)]
        fields["link"] = link.map(RawJSON.string)
        return try await outcome("widget.tap", fields)
    }

    /// A tap on a button or a toggle of the widget: its provider runs the action.
    ///
    /// - Parameter parameters: what the action gets: a JSON object of at most 4 KB.
    @discardableResult
    public func tap(
        _ id: String, action: String, parameters: RawObject? = nil
    ) async throws(IsletError) -> Answer.Outcome {
        var fields: RawObject = ["id": .string(id), "action": .string(action)]
        fields["parameters"] = parameters?.json
        return try await outcome("widget.tap", fields)
    }

    /// Lets the timeline of one widget be asked for again.
    @discardableResult
    public func reloadTimeline(of id: String) async throws(IsletError) -> Answer.Outcome {
        try await outcome("widget.reload", ["id": .string(id)])
    }

    /// Says that a widget can be seen now: one whose timeline is over is asked for the next.
    @discardableResult
    public func becameVisible(_ id: String) async throws(IsletError) -> Answer.Outcome {
        try await outcome("widget.visible", ["id": .string(id)])
    }

    /// One widget; nil where there is none of that id.
    public func widget(_ id: String) async throws(IsletError) -> WidgetInfo? {
        do throws(IsletError) {
            return try await send("widget.get", ["id": .string(id)]).widget.flatMap(WidgetInfo.init)
        } catch {
            if error.code == .notFound { return nil }
            throw error
        }
    }

    private func outcome(_ op: String, _ fields: RawObject) async throws(IsletError) -> Answer.Outcome {
        try await send(op, fields).outcome ?? .applied
    }
}
