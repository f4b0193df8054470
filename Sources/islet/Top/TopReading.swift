package import IsletClient

/// What a top asks a service for: what its screen needs, and no more.
package struct TopRequest: Sendable, Hashable {
    /// What is listed.
    package var tab = TopTab.activities
    /// The filter as far as it is entered.
    package var filter = TopFilter()
    /// How many rows at most.
    var limit: Int
    /// The one app to look at; nil: all.
    var app: String?
    /// What a panel shows, whose text is asked for each time.
    var subject: TopSubject?
    /// Whether the rows that are wanted are those with the next deadlines.
    var isSoonest = false
}

/// What a panel is about.
struct TopSubject: Sendable, Hashable {
    enum Aspect: Sendable, Hashable {
        case details, explanation
    }

    var aspect: Aspect
    var tab: TopTab
    var app: String
    /// An entity's id, else what tells the row from all others.
    var identity: String
    /// An entity's type or kind.
    var kind: String?
    /// What a person calls it.
    var name: String
}

/// What a service answered.
package struct TopReading: Sendable {
    var request: TopRequest
    /// When it was made, in milliseconds of real time since some moment.
    var at: Int64
    var figures: TopFigures
    var rows: [RawObject]
    /// How many rows there are that fit as far as the service knows, where it says so.
    var total: Int64?
    var isExact = true
    /// Apps that were not asked, since there are too many.
    var unaskedApps = 0
    /// How many apps have rows or may have some.
    var apps = 1
    /// Whether the rows are those with the next deadlines of all that there are.
    var hasSoonest = false
    /// What the panel shows.
    var panel: [String]?
    /// What the service cannot do, in a few words.
    var note: String?

    /// The answers to a request at a moment, in milliseconds of real time since some moment.
    package init(
        request: TopRequest, at: Int64, figures: TopFigures, rows: [RawObject], total: Int64? = nil,
        panel: [String]? = nil
    ) {
        self.request = request
        self.at = at
        self.figures = figures
        self.rows = rows
        self.total = total
        self.panel = panel
    }
}
