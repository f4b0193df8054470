/// What an event of a device changed of its ``DeviceConditions``, as a note: of up to 512 apps that these name, one.
package struct ConditionsChange: Equatable, Sendable {
    var device: [UInt8]
    /// The one whose conditions changed; nil: none.
    var app: AppID?
    /// Whether no app has any from here on.
    var clearsApps: Bool

    init(device: [UInt8], app: AppID?, clearsApps: Bool) {
        (self.device, self.app, self.clearsApps) = (device, app, clearsApps)
    }

    /// Writes the conditions as they are now, as far as they may have changed.
    package func write(to writer: inout ImageWriter, of engine: borrowing Engine) {
        let conditions = engine.widgets.conditions[device] ?? DeviceConditions()
        writer.write(run: device)
        writer.write(conditions.isInStandBy)
        writer.write(conditions.isInDeveloperMode)
        writer.write(clearsApps)
        writer.write(app != nil)
        guard let app else { return }
        writer.write(run: engine.apps.name(of: app))
        writer.write(conditions.foregroundApps.contains(app))
        writer.write(conditions.sessionApps.contains(app))
    }
}

/// A ``ConditionsChange`` as it was written.
package struct StoredConditionsChange: Equatable, Sendable {
    fileprivate var device: [UInt8]
    fileprivate var isInStandBy: Bool
    fileprivate var isInDeveloperMode: Bool
    fileprivate var clearsApps: Bool
    fileprivate var app: App?

    fileprivate struct App: Equatable {
        var name: [UInt8]
        var isInForeground: Bool
        var hasSession: Bool
    }

    package init(_ reader: inout ImageReader) throws(ImageError) {
        device = try reader.bytesOfRun()
        isInStandBy = try reader.flag()
        isInDeveloperMode = try reader.flag()
        clearsApps = try reader.flag()
        guard try reader.flag() else { return }
        app = App(name: try reader.bytesOfRun(), isInForeground: try reader.flag(), hasSession: try reader.flag())
    }
}

extension Engine {
    /// Takes a change back. What a snapshot holds already may be ahead of it, and is so again by those that follow.
    package mutating func restore(_ change: StoredConditionsChange) throws(ImageError) {
        var conditions = widgets.conditions[change.device] ?? DeviceConditions()
        conditions.isInStandBy = change.isInStandBy
        conditions.isInDeveloperMode = change.isInDeveloperMode
        if change.clearsApps { (conditions.foregroundApps, conditions.sessionApps) = ([], []) }
        if let known = change.app {
            let app = try self.app(named: known.name)
            conditions.foregroundApps.remove(app)
            conditions.sessionApps.remove(app)
            if known.isInForeground { conditions.foregroundApps.insert(app) }
            if known.hasSession { conditions.sessionApps.insert(app) }
        }
        widgets.conditions.set(conditions.isEmpty ? nil : conditions, of: change.device)
    }
}
