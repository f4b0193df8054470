/// One placed widget as its events tell it.
package struct WitnessedWidget {
    /// A reload that was asked for, or one that is given back.
    struct Payment {
        var seq: Int
        var at: Int64
        var exemption: String?
        var isRefund = false
    }

    package let id: String
    package let app: String
    package let kind: WitnessedWidgetKind
    /// How it stood after each of its events; the first has revision 1.
    package var versions: [[String: JSON]] { past.entities }
    var past = WitnessedVersions()
    /// The place of each of these events in the app's stream.
    var seqs: [Int] = []
    /// How often one with this id was placed before; and how those stood.
    package internal(set) var life = 0
    var earlier = WitnessedVersions()
    /// Where it stands among all widgets, in the order of their placing.
    var placing = 0
    package internal(set) var state = ""
    package internal(set) var addedAt: Int64 = 0
    /// Everything that was asked for or given back.
    var payments: [Payment] = []
    /// The asks that count, the oldest first: without those that were given back.
    private(set) var asks: [Payment] = []
    /// Why the next ask costs nothing, whatever it is for: the last one was for something that happened, and asked nobody.
    var owed: String?
    /// Whether nobody waited any more for one of its actions, whose answer may still come.
    var hasActedInVain = false
    /// The sequence number of the event that asked for its timeline or began its action last.
    package internal(set) var askedSeq = 0
    /// The action that runs, as its event told it.
    var interaction: JSON?
    /// What its provider said of the call that it failed.
    var reason: String?
    /// Failures of timelines in a row.
    var failures = 0
    var timeline: WitnessedTimeline?
    /// What it may be instead, until an entry of it is shown.
    var alternatives: [WitnessedTimeline] = []
    /// Which entry of the timeline is shown, since when for the sake of distance, and when the next one is.
    var index: Int?
    var shownAt: Int64 = 0
    var nextEntryAt: Int64?
    /// Whether ``nextEntryAt`` can be told: not where the distance of entries was lifted or came back meanwhile.
    var isCourseKnown = true
    /// When its policy asks for the next timeline; nil: never, or over.
    var policyAt: ClosedRange<Int64>?
    var retryAt: ClosedRange<Int64>?

    package var entity: [String: JSON] { versions.last ?? [:] }
    package var revision: Int { versions.count }
    package var isListed: Bool { state != "removed" }
    package var device: String? { entity["device"]?.string }
    package var nextAt: Int64? { entity["next"]?["at"]?.integer }
    package var isHeld: Bool { entity["held"] != nil }
    package var failure: String? { entity["failure"]?.string }
    package var isOnTop: Bool { entity["isOnTop"]?.bool ?? false }
    package var isActing: Bool { state == "acting" }
    /// Whether a timeline is asked for.
    package var isAsking: Bool { state == "loading" || state == "reloading" }
    /// Whether a provider is asked for something.
    package var isBusy: Bool { isAsking || isActing }

    init(id: String, app: String, kind: WitnessedWidgetKind) {
        self.id = id
        self.app = app
        self.kind = kind
    }

    /// Whether it ever stood like this.
    ///
    /// - Parameter isRead: whether an answer to a read shows it, which has the date of its state as well.
    package func everWas(_ entity: [String: JSON], isRead: Bool) -> Bool {
        if let revision = entity["revision"]?.integer, past.has(entity, at: Int(revision) - 1, isRead: isRead) {
            return true
        }
        return earlier.contains(entity, isRead: isRead)
    }

    /// Whether a place in its app's stream is one of this life.
    package func seqs(contain seq: Int) -> Bool { seqs.first.map { $0 <= seq } ?? false }

    /// How it stood at a place in its app's stream; nil: not in this life.
    package func version(at seq: Int) -> [String: JSON]? {
        seqs.lastIndex { $0 <= seq }.map { versions[$0] }
    }

    /// It was removed, and one with its id is placed.
    mutating func isPlacedAgain() {
        earlier.append(past)
        let (id, app, kind, earlier, life) = (id, app, kind, earlier, life)
        self = WitnessedWidget(id: id, app: app, kind: kind)
        (self.earlier, self.life) = (earlier, life)
    }

    // MARK: The budget

    mutating func pay(_ payment: Payment) {
        payments.append(payment)
        asks.append(payment)
        owed = nil
    }

    mutating func refund(seq: Int, at: Int64) {
        payments.append(Payment(seq: seq, at: at, isRefund: true))
        let exemption = asks.popLast()?.exemption ?? ""
        owed = ["intent", "locale", "appearance"].contains(exemption) ? exemption : nil
    }

    /// The dates of the charged reloads that count at a date, as of a place in the stream.
    package func spent(at date: Int64, through seq: Int = .max) -> [Int64] {
        var counting = asks
        if seq != .max {
            counting = []
            for payment in payments where payment.seq <= seq {
                if payment.isRefund { _ = counting.popLast() } else { counting.append(payment) }
            }
        }
        return counting.filter { $0.exemption == nil && $0.at + WidgetRules.window > date }.map(\.at)
    }

    package func limit(at date: Int64, _ rules: WidgetRules) -> Int {
        date < addedAt + rules.learningSpan ? rules.learningBudget : rules.dailyBudget
    }

    /// The first date from one on at which the budget allows a reload.
    func freeAt(_ date: Int64, _ rules: WidgetRules) -> Int64 {
        let charged = spent(at: date)
        let dates = [date, addedAt + rules.learningSpan] + charged.map { $0 + WidgetRules.window }
        let free = dates.filter { $0 >= date }.sorted().first { moment in
            charged.count { $0 + WidgetRules.window > moment } < limit(at: moment, rules)
        }
        return free ?? .max
    }
}
