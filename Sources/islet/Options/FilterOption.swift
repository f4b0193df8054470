import ArgumentParser
import IsletClient
import IsletFilter

/// Rows that can be filtered.
protocol FilteredRows {
    /// What a filter may ask of them.
    static var filterSubject: FilterSubject { get }
    /// Whether what rows have depends on other options, so that the subcommand checks the filter itself.
    static var dependsOnOptions: Bool { get }
}

extension FilteredRows {
    static var dependsOnOptions: Bool { false }
}

/// What is selected of a list or a stream, on this side.
struct FilterOption<Rows: FilteredRows>: ParsableArguments {
    @Option(
        name: .customLong("filter"),
        help: ArgumentHelp(
            "Only what fits, such as 'state=stale and key~order-' or 'next<10m or not device'.",
            valueName: "conditions"))
    var text: String?

    func validate() throws {
        if !Rows.dependsOnOptions { try check(for: Rows.filterSubject) }
    }

    /// Checks that it can be asked of rows that have less than these may have.
    ///
    /// - Throws: a `ValidationError` that says what is wrong.
    func check(for subject: FilterSubject) throws {
        do throws(FilterError) {
            _ = try read(for: subject)
        } catch {
            throw ValidationError(error.description)
        }
    }

    /// What was asked for; nil where nothing was.
    var filter: Filter? { try? read(for: Rows.filterSubject) }

    private func read(for subject: FilterSubject) throws(FilterError) -> Filter? {
        guard let text else { return nil }
        return try Filter(text, for: subject)
    }
}

/// Activities in a list, which may be in the order of presentation.
enum ListedActivities: FilteredRows {
    static let filterSubject = FilterSubject.presentedActivity
    static let dependsOnOptions = true
}

/// Events of a stream or a history.
enum EventRows: FilteredRows {
    static let filterSubject = FilterSubject.event
}

/// Events of one entity's history.
enum HistoryRows<Family: CommandFamily>: FilteredRows {
    static var filterSubject: FilterSubject { Family.historySubject }
}

/// Keys of groups.
enum GroupItemRows: FilteredRows {
    static let filterSubject = FilterSubject.groupItem
}

/// Providers of controls and widgets.
enum ProviderRows: FilteredRows {
    static let filterSubject = FilterSubject.provider
}

/// Followers of events.
enum SubscriberRows: FilteredRows {
    static let filterSubject = FilterSubject.subscriber
}

/// Deadlines.
enum TimerRows: FilteredRows {
    static let filterSubject = FilterSubject.timer
}

/// What is wrong.
enum ProblemRows: FilteredRows {
    static let filterSubject = FilterSubject.problem
}

/// Devices whose slots are held.
enum SlotRows: FilteredRows {
    static let filterSubject = FilterSubject.slot
}

/// Apps with what they have.
enum AppRows: FilteredRows {
    static let filterSubject = FilterSubject.app
}

/// Rules that explanations name.
enum RuleRows: FilteredRows {
    static let filterSubject = FilterSubject.rule
}
