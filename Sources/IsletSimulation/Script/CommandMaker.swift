import IsletOracle

/// Draws a command: what the oracle is told and the bytes that the service gets, made side by side.
struct CommandMaker {
    var random: SimRandom
    let mix: Mix
    let now: Int64
    let app: String
    /// Whether the service is sure to know the app: of others it remembers nothing that a device reports.
    var isKnown = true

    static let apps = ["com.example.pizza", "org.islet.ride", "de.sport"]
    private static let types = ["Order", "Ride.v2"]
    private static let keys = ["home", "k:1", "x-2"]
    private static let contents = ["{}", "{\"n\":1}", "{\"n\":2,\"t\":\"a \\\"b\\\"\"}", "{ \"n\" : 3 }"]
    private static let alerts = ["{\"title\":\"a\",\"body\":\"b\"}"]

    /// - Parameter ids: of activities that the client can know.
    mutating func make(ids: [String]) -> (command: OracleCommand, fields: [String]) {
        let reports = mix.hasWidgets ? 24 : 6
        let choice = random.weighted([20, 30, 10, 5, 4, 4, 6, 3, 3, 4, 2, reports, 2, 2, 1])
        switch choice {
        case 0: return start()
        case 1: return update(ids)
        case 2: return end(ids)
        case 3:
            let by = random.oneIn(2) ? "person" : "system"
            let (target, fields) = self.target(ids)
            return changing(.dismiss(target, by: by), "activity.dismiss", fields + ["\"by\":\"\(by)\""])
        case 4: return renew(ids)
        case 5:
            let (target, fields) = self.target(ids)
            return changing(.heartbeat(target), "activity.heartbeat", fields)
        case 6:
            let (target, fields) = self.target(ids)
            return reading(.get(target), "activity.get", fields)
        case 7:
            let (target, fields) = self.target(ids)
            return reading(.history(target), "activity.history", fields)
        case 8: return reading(.list(state: nil), "activity.list", ["\"limit\":1000"])
        case 9: return settingsSet()
        case 10:
            let device = device()
            return reading(.settingsGet(device: device), "settings.get", text("device", device))
        case 11: return deviceEvent()
        case 12: return (OracleCommand(app: app, .info), ["\"op\":\"service.info\""])
        case 13: return (OracleCommand(app: app, .ping), ["\"op\":\"service.ping\""])
        default: return wrong()
        }
    }

    /// `clock.advance`.
    ///
    /// - Parameter date: one around which to stop, now and then.
    mutating func advance(near date: Int64?) -> (command: OracleCommand, fields: [String]) {
        var span = span()
        if let date, random.oneIn(3) { span = max(0, date - now + Int64(random.below(3)) - 1) }
        return (OracleCommand(app: app, .advance(span)), ["\"op\":\"clock.advance\"", "\"by\":\(span)"])
    }

    private mutating func start() -> (OracleCommand, [String]) {
        var start = OracleCommand.Start()
        start.type = Self.types[random.below(2)]
        start.attributes = random.oneIn(3) ? "{\"id\":\(random.below(1_000))}" : "{}"
        start.content = content()
        start.staleDate = date(oneIn: 2)
        start.relevance = relevance()
        start.isTransient = random.oneIn(4)
        start.startDate = date(oneIn: 4)
        if start.startDate != nil || random.oneIn(4) { start.alert = Self.alerts[0] }
        if random.oneIn(5) { start.pushType = random.oneIn(2) ? "\"token\"" : "{\"channel\":\"c1\"}" }
        start.device = device()
        if random.oneIn(2) { start.key = random.pick(Self.keys) }
        if random.oneIn(5) { start.id = Self.uuid(UInt64(random.below(40))) }
        if random.oneIn(10) { start.background = random.oneIn(2) }
        start.updatesExisting = start.key != nil && random.oneIn(2)
        var fields = ["\"type\":\"\(start.type)\"", "\"attributes\":\(start.attributes)"]
        fields.append("\"contentState\":\(start.content)")
        fields += number("staleDate", start.staleDate) + score(start.relevance)
        if start.isTransient { fields.append("\"style\":\"transient\"") }
        fields += number("startDate", start.startDate) + raw("alert", start.alert) + raw("pushType", start.pushType)
        fields += text("device", start.device) + text("key", start.key) + text("id", start.id)
        if let background = start.background { fields.append("\"background\":\(background)") }
        if start.updatesExisting { fields.append("\"ifExists\":\"update\"") }
        // A revision guards a start only where it may become an update.
        return changing(.start(start), "activity.start", fields, isGuarded: start.updatesExisting)
    }

    private mutating func update(_ ids: [String]) -> (OracleCommand, [String]) {
        let (target, address) = target(ids)
        let content = content()
        let staleDate = date(oneIn: 2)
        let relevance = relevance()
        let alert = random.oneIn(6) ? Self.alerts[0] : nil
        let stamp = date(oneIn: 5)
        let fields =
            address + ["\"contentState\":\(content)"] + number("staleDate", staleDate) + score(relevance)
            + raw("alert", alert) + number("timestamp", stamp)
        return changing(
            .update(target, content: content, staleDate: staleDate, relevance: relevance, alert: alert, stamp: stamp),
            "activity.update", fields)
    }

    private mutating func end(_ ids: [String]) -> (OracleCommand, [String]) {
        let (target, address) = target(ids)
        let content = random.oneIn(2) ? self.content() : nil
        var policy = OracleCommand.Policy.default
        var fields = address + raw("contentState", content)
        switch random.below(4) {
        case 0: break
        case 1:
            policy = .immediate
            fields.append("\"dismissalPolicy\":\"immediate\"")
        default:
            let date = near()
            policy = .after(date)
            fields.append("\"dismissalPolicy\":{\"after\":\(date)}")
        }
        let stamp = date(oneIn: 5)
        return changing(
            .end(target, content: content, policy, stamp: stamp), "activity.end", fields + number("timestamp", stamp))
    }

    private mutating func renew(_ ids: [String]) -> (OracleCommand, [String]) {
        let (target, address) = target(ids)
        let content = random.oneIn(2) ? self.content() : nil
        let staleDate = date(oneIn: 2)
        return changing(
            .renew(target, content: content, staleDate: staleDate), "activity.renew",
            address + raw("contentState", content) + number("staleDate", staleDate))
    }

    private mutating func settingsSet() -> (OracleCommand, [String]) {
        let device = random.oneIn(2) ? self.device() : nil
        var enabled = random.oneIn(2) ? !random.oneIn(3) : nil as Bool?
        let frequent = random.oneIn(2) ? random.oneIn(2) : nil as Bool?
        if enabled == nil, frequent == nil { enabled = true }
        var fields = text("device", device)
        if let enabled { fields.append("\"activitiesEnabled\":\(enabled)") }
        if let frequent { fields.append("\"frequentPushesEnabled\":\(frequent)") }
        return plain(
            .settingsSet(device: device, enabled: enabled, frequent: frequent), "settings.set", fields)
    }

    private mutating func deviceEvent() -> (OracleCommand, [String]) {
        let device = self.device() ?? "d0"
        let events = ["lock", "collapse", "leave", "unlock", "reboot", "appForeground", "appBackground", "uninstall"]
        var event = events[random.below(random.oneIn(6) ? 8 : 7)]
        if mix.hasWidgets, !random.oneIn(4) {
            let conditions = [
                "appForeground", "appBackground", "sessionStart", "sessionEnd", "standByStart", "standByEnd",
                "developerModeOn", "developerModeOff", "developerModeOff", "localeChange", "appearanceChange",
                "locationChange", "appBackground", "sessionEnd", "standByEnd", "reboot",
            ]
            event = random.pick(conditions) ?? event
        }
        if !isKnown, event == "appForeground" || event == "sessionStart" { event = "unlock" }
        var fields = ["\"device\":\"\(device)\"", "\"event\":\"\(event)\""]
        if event.hasPrefix("app") && event != "appearanceChange" || event.hasPrefix("session") || event == "uninstall" { fields.append("\"app\":\"\(app)\"") }
        return (
            OracleCommand(app: app, .deviceEvent(device: device, event: event)), ["\"op\":\"device.event\""] + fields
        )
    }

    private mutating func wrong() -> (OracleCommand, [String]) {
        let (code, fields): (String, [String]) =
            switch random.below(4) {
            case 0: ("unknownOp", ["\"op\":\"activity.fly\""])
            case 1: ("unknownField", ["\"op\":\"service.ping\"", "\"colour\":1"])
            case 2: ("missingField", ["\"op\":\"activity.get\"", "\"app\":\"\(app)\""])
            default: ("badMessage", ["\"op\":\"service.ping\"", "\"x\":"])
            }
        return (OracleCommand(app: app, .wrong(code: code)), fields)
    }
}
