import IsletClient

/// What a top knows and shows: a value that changes with what happens, and says what is to be done.
package struct TopModel: Sendable {
    /// Something that happened.
    package enum Input: Sendable {
        case key(Key)
        case resized(ScreenSize)
        /// Time has passed: milliseconds of real time since some moment.
        case tick(at: Int64)
        case reading(TopReading)
        /// A reading failed; what for, as a sentence.
        case failed(String, at: Int64)
        /// Lines of the stream that a tail follows; none at first, when it has joined.
        case tail([String])
        /// What came of a change.
        case changed(String)
    }

    /// Something to do.
    package enum Effect: Sendable, Hashable {
        case quit
        /// Ask the service now; the answer comes as a reading, or as a failure.
        case read(TopRequest)
        /// Follow the events of all topics that begin so, instead of those that were followed before.
        case follow(prefix: String)
        case unfollow
        /// Make this change; what came of it is told.
        case change(TopAction)
        /// What the terminal shows is unknown: write everything.
        case repaint
    }

    /// Whether the service answers.
    enum Link: Sendable, Hashable {
        /// It has never answered.
        case connecting(since: Int64)
        case live
        case away(since: Int64, why: String)
    }

    /// What stands where the table is otherwise.
    enum Panel: Sendable, Hashable {
        case subject(TopSubject, lines: [String]?)
        /// The lines are nil until the stream is joined: nothing is lost from then on.
        case tail(title: String, lines: [String]?)
        case help
    }

    // How it was started.
    let endpoint: String
    let interval: Int64
    let limit: Int
    let app: String?
    /// Whether keys may change anything.
    let mayWrite: Bool

    var size: ScreenSize
    var now: Int64 = 0
    var link: Link
    var isPaused = false
    var tab = TopTab.activities
    var sorts: [TopTab: TopSort] = [:]
    var filter = TopFilter()
    /// What is being typed; nil: no filter is.
    var draft: String?
    /// Why what was typed is no filter, until the next key.
    var complaint: String?
    /// The change that waits for its confirmation.
    var asked: TopAction?
    /// What came of the last change, until the next key.
    var outcome: String?
    var panel: Panel?
    /// The first line of the panel that is seen; nil: the last ones are.
    var panelTop: Int? = 0

    var reading: TopReading?
    var rates = TopRates()
    /// The reading that the next rates begin at.
    private var base: TopReading?
    /// Rates of less time than this would jump about, in milliseconds.
    private static let ratesMin: Int64 = 500
    private(set) var rows: [TopRow] = []
    /// What tells the selected row from the others, and where it was.
    var selected: String?
    var selectedIndex = 0
    /// The first row that is seen.
    var top = 0

    private var isReading = false
    /// When the next reading is due.
    private var dueAt: Int64 = 0
    private var readingSince: Int64 = 0

    /// The lines that a tail keeps.
    static let tailLinesMax = 1_000
    /// A service that has not answered for this long is away.
    static let silenceMax: Int64 = 2_000

    /// A top that has heard nothing yet.
    ///
    /// - Parameters:
    ///   - endpoint: where the service is, for people.
    ///   - interval: milliseconds of real time from one reading to the next.
    ///   - limit: how many rows are asked for at most.
    ///   - app: the one app to look at; nil: all.
    ///   - mayWrite: whether keys may change anything.
    ///   - now: milliseconds of real time since some moment.
    package init(
        endpoint: String, interval: Int64, limit: Int, app: String? = nil, mayWrite: Bool = false, size: ScreenSize,
        now: Int64 = 0
    ) {
        self.endpoint = endpoint
        self.interval = interval
        self.limit = limit
        self.app = app
        self.mayWrite = mayWrite
        self.size = size
        self.now = now
        link = .connecting(since: now)
    }

    /// What is asked for now.
    package var request: TopRequest {
        var request = TopRequest(tab: tab, filter: filter, limit: limit, app: app)
        if case .subject(let subject, _) = panel { request.subject = subject }
        request.isSoonest = sort.column == "NEXT" && !sort.isReversed
        return request
    }

    /// What the tab is sorted by.
    var sort: TopSort { sorts[tab] ?? TopSort(column: tab.standardSort) }

    /// The row that keys are about.
    var selectedRow: TopRow? { rows.indices.contains(selectedIndex) ? rows[selectedIndex] : nil }

    /// Takes in what has happened.
    package mutating func apply(_ input: Input) -> [Effect] {
        switch input {
        case .key(let key):
            let before = request
            let effects = press(key)
            // What is shown is other than what was asked for: ask at once.
            if request != before, !effects.contains(.quit) { dueAt = now }
            return effects + due()
        case .resized(let size):
            self.size = size
            arrange()
            return [.repaint]
        case .tick(let at):
            now = max(now, at)
            if isReading, now - readingSince >= Self.silenceMax { silent() }
            return due()
        case .reading(let reading):
            finishReading(at: reading.at)
            take(reading)
            return due()
        case .failed(let why, let at):
            finishReading(at: at)
            switch link {
            case .away(let since, _): link = .away(since: since, why: why)
            case .live: link = .away(since: readingSince, why: why)
            case .connecting: break
            }
            return due()
        case .changed(let what):
            outcome = what
            // What it has brought about is to be seen.
            dueAt = now
            return due()
        case .tail(let lines):
            guard case .tail(let title, let known) = panel else { return [] }
            panel = .tail(title: title, lines: Array(((known ?? []) + lines).suffix(Self.tailLinesMax)))
            return []
        }
    }

    /// Filters and sorts anew, and keeps the selection on its row.
    mutating func arrange() {
        guard let reading, reading.request.tab == tab else {
            rows = []
            return
        }
        let typed = draft.map { TopFilter($0) }
        rows = TopRow.rows(
            reading.rows, tab, filter: typed ?? filter, isTyping: typed != nil, sort: sort,
            now: reading.figures.now ?? 0)
        if let selected, let index = rows.firstIndex(where: { $0.identity == selected }) {
            selectedIndex = index
        } else {
            select(selectedIndex)
        }
        scroll()
    }

    /// Selects a row, or the nearest that there is.
    mutating func select(_ index: Int) {
        selectedIndex = max(0, min(index, rows.count - 1))
        selected = selectedRow?.identity
        scroll()
    }

    private mutating func scroll() {
        let height = max(1, TopScreen.bodyHeight(size))
        top = min(top, selectedIndex)
        top = max(top, selectedIndex - height + 1)
        top = max(0, min(top, rows.count - height))
    }

    // MARK: Readings

    private mutating func due() -> [Effect] {
        guard !isReading, now >= dueAt, !isPaused || reading?.request != request else { return [] }
        isReading = true
        readingSince = now
        return [.read(request)]
    }

    private mutating func finishReading(at: Int64) {
        now = max(now, at)
        isReading = false
        // A service that needs long is not asked all the time.
        let cost = now - readingSince
        dueAt = max(readingSince + interval, now + cost)
    }

    private mutating func silent() {
        guard link == .live else { return }
        link = .away(since: readingSince, why: "no answer")
    }

    private mutating func take(_ new: TopReading) {
        if let old = base, link == .live {
            if new.at - old.at >= Self.ratesMin {
                rates = TopRates(from: old.figures, to: new.figures, milliseconds: new.at - old.at)
                base = new
            }
        } else {
            rates = TopRates()
            base = new
        }
        link = .live
        if case .subject(let subject, _) = panel, subject == new.request.subject, let lines = new.panel {
            panel = .subject(subject, lines: lines)
        }
        if new.request.tab != tab || new.request.filter != filter { dueAt = now }
        reading = new
        arrange()
    }
}
