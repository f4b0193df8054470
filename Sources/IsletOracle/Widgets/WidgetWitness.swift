/// Judges the events of widgets one by one as they are handed to the journal, and the calls that providers get: by what
/// may follow what, by what providers answered, and by what devices reported.
///
/// It knows the rules by itself and shares no code with what it judges. After a crash it reads what was kept again.
package final class WidgetWitness {
    /// By topic.
    package private(set) var widgets: [String: WitnessedWidget] = [:]
    private var topics: [String: String] = [:]
    /// How often a widget was placed under each id after the first time, whatever its app and kind.
    private var lives: [String: Int] = [:]
    /// How many were placed, again or for the first time.
    private var placings = 0
    /// When the kinds of apps are relevant, as their providers ever said.
    var relevances: [String: Set<Range<Int64>>] = [:]
    /// The calls that reached a provider, by their numbers.
    var calls: [String: WitnessedCall] = [:]
    /// How often each question was sent in each run of the service, and each action at all.
    var attempts: [String: Int] = [:]
    /// The run of the service that asks providers.
    package var run: UInt64 = 0
    /// Of the questions that were given up, by the event that says so: whether a provider had got them.
    var timeOuts: [String: Bool] = [:]
    /// The calls by what they ask: the widget, its life, and the event.
    var callsByQuestion: [String: [String]] = [:]
    /// The timelines that were given, by the call and in order.
    var timelines: [String: [WitnessedTimeline]] = [:]
    /// What was wrong first.
    package internal(set) var complaint: String?
    /// What providers said of the calls that they failed.
    var said = SaidReasons()
    let oracle: Oracle
    let rules: WidgetRules

    package init(_ oracle: Oracle) {
        self.oracle = oracle
        rules = oracle.rules.widgets
    }

    package func widget(id: String) -> WitnessedWidget? { topics[id].flatMap { widgets[$0] } }
    func topic(id: String) -> String? { topics[id] }

    /// Whether a widget of this id ever stood like this.
    package func everWas(_ entity: [String: JSON], isRead: Bool) -> Bool {
        widgets.values.contains { .string($0.id) == entity["id"] && $0.everWas(entity, isRead: isRead) }
    }

    /// How many widgets are listed.
    package var listedCount: Int { widgets.values.count { $0.isListed } }

    /// The listed widgets of an app, by topic.
    package func listed(_ app: String) -> [String: WitnessedWidget] {
        widgets.filter { $0.value.app == app && $0.value.isListed }
    }

    /// The ids of an app's widgets, those that are gone among them, in a fixed order.
    package func ids(_ app: String) -> [String] {
        widgets.values.filter { $0.app == app }.map(\.id).sorted()
    }

    package static func isOfWidget(_ topic: String) -> Bool { topic.contains("/widget/") }

    /// A crash: everything is read again.
    package func forget() {
        widgets.removeAll()
        topics.removeAll()
        lives.removeAll()
        placings = 0
    }

    func complain(_ isRight: Bool, _ what: @autoclosure () -> String) {
        if !isRight, complaint == nil { complaint = what() }
    }

    /// The first date after one at which a widget does something by itself.
    package func nextDate(after date: Int64) -> Int64? {
        widgets.values.filter(\.isListed).compactMap(\.nextAt).filter { $0 > date }.min()
    }

    /// At rest: exactly one widget of each device is the first of its Smart Stack.
    package func checkStacks() {
        var tops: [String: Int] = [:]
        for widget in widgets.values where widget.isListed {
            guard let device = widget.device else {
                complain(!widget.isOnTop, "on top of no device: \(JSON.object(widget.entity).text)")
                continue
            }
            tops[device, default: 0] += widget.isOnTop ? 1 : 0
        }
        for (device, count) in tops { complain(count == 1, "\(device) has \(count) first widgets") }
    }

    // MARK: Events

    /// An event was handed to the journal.
    package func read(_ event: JSON, topic: String) {
        let parts = topic.split(separator: "/").map(String.init)
        guard parts.count == 4, parts[1] == "widget", let kind = WitnessedWidgetKind.named(parts[2]),
            let patch = event["widget"]?.object, let full = event["event"]?.string, full.hasPrefix("widget."),
            patch["id"] == .string(parts[3])
        else { return complain(false, "an event of no widget: \(event.text)") }
        let name = String(full.dropFirst(7))
        var widget = widgets[topic] ?? WitnessedWidget(id: parts[3], app: parts[0], kind: kind)
        if event["from"] == nil {
            if !widget.isListed, widget.revision > 0 { widget.isPlacedAgain() }
            lives[widget.id] = lives[widget.id].map { $0 + 1 } ?? 0
            widget.life = lives[widget.id] ?? 0
            placings += 1
            widget.placing = placings
        }
        let before = widget.entity
        var entity = before
        for (member, value) in patch { entity[member] = value == .null ? nil : value }
        func check(_ isRight: Bool, _ what: String) {
            complain(isRight, "\(what): \(event.text)\n    before: \(JSON.object(before).text)")
        }
        check(event["from"] == before["state"], "from is not where it was")
        check(entity["state"] == event["to"] && entity["cause"] == event["cause"], "the patch and the event differ")
        check(entity["revision"] == .integer(Int64(widget.revision + 1)), "another revision")
        let passage = WidgetPassage(name: name, event: event, before: before, after: entity)
        let targets = WidgetPassages.targets(name, from: passage.from)
        check(targets.contains(event["to"]?.string ?? ""), "no legal next state")
        check(WidgetPassages.causes(name).contains(passage.cause), "no cause of this event")
        widget.past.append(entity, after: event)
        widget.seqs.append(passage.seq)
        widget.state = passage.to
        checkContent(passage, widget, check)
        follow(passage, &widget, check)
        checkNext(passage, widget, check)
        widgets[topic] = widget
        topics[widget.id] = topic
    }
}
