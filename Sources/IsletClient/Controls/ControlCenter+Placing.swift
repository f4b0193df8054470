/// What persons do with controls, for whoever draws them.
extension ControlCenter {
    /// Places a control.
    ///
    /// - Parameters:
    ///   - configuration: what is configured; nil: the kind's defaults.
    ///   - device: whose it is; nil: of none.
    ///   - id: a UUID of one's own; nil: the service makes one.
    /// - Returns: its id.
    @discardableResult
    public func add(
        kind: String, configuration: (any ConfigurationIntent)? = nil, device: String? = nil, id: String? = nil
    ) async throws(IsletError) -> String {
        var fields: RawObject = ["kind": .string(kind)]
        fields["configuration"] = try configuration?.json()
        fields["device"] = device.map(RawJSON.string)
        fields["id"] = id.map(RawJSON.string)
        guard let id = try await send("control.add", fields).control?["id"]?.string else {
            throw .unreadable("no id of the control in the answer")
        }
        return id
    }

    /// Gives a control another configuration, after which its value is asked for.
    @discardableResult
    public func configure(
        _ id: String, configuration: any ConfigurationIntent
    ) async throws(IsletError) -> Answer.Outcome {
        try await outcome("control.configure", ["id": .string(id), "configuration": try configuration.json()])
    }

    /// Takes a control away.
    @discardableResult
    public func remove(_ id: String) async throws(IsletError) -> Answer.Outcome {
        try await outcome("control.remove", ["id": .string(id)])
    }

    /// A tap: a toggle flips, a button acts. It does not wait for the action.
    @discardableResult
    public func tap(_ id: String) async throws(IsletError) -> Answer.Outcome {
        try await outcome("control.tap", ["id": .string(id)])
    }

    /// Sets a toggle on or off, whatever it shows. It does not wait for the action.
    @discardableResult
    public func set(_ id: String, isOn: Bool) async throws(IsletError) -> Answer.Outcome {
        try await outcome("control.set", ["id": .string(id), "value": .bool(isOn)])
    }

    /// Lets the value of one control be asked for again.
    @discardableResult
    public func reloadControl(_ id: String) async throws(IsletError) -> Answer.Outcome {
        try await outcome("control.reload", ["id": .string(id)])
    }

    /// One control; nil where there is none of that id.
    public func control(_ id: String) async throws(IsletError) -> ControlInfo? {
        do throws(IsletError) {
            return try await send("control.get", ["id": .string(id)]).control.flatMap(ControlInfo.init)
        } catch {
            if error.code == .notFound { return nil }
            throw error
        }
    }

    private func outcome(_ op: String, _ fields: RawObject) async throws(IsletError) -> Answer.Outcome {
        try await send(op, fields).outcome ?? .applied
    }
}
