import ArgumentParser
import IsletClient
import IsletFilter

/// When content is out of date.
struct StaleOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("Out of date after this long in the service's time, such as 30s or 10m.", valueName: "span"))
    var staleIn: Span?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Out of date at this date, such as 2026-01-31T09:00Z.", valueName: "date"))
    var staleAt: Moment?

    func validate() throws {
        guard staleIn == nil || staleAt == nil else { throw ValidationError("name --stale-in or --stale-at, not both") }
    }

    /// The date, where domain time stands at `now()`, which is asked only if needed.
    func staleDate(now: () async throws -> Int64) async throws -> RawJSON? {
        let moment = staleIn.map { Moment.fromNow(milliseconds: $0.milliseconds) } ?? staleAt
        guard let moment else { return nil }
        return .integer(try await moment.resolved(now: now))
    }
}

/// How important an activity is.
struct RelevanceOption: ParsableArguments {
    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("How important it is among the app's others; 0 where it is absent.", valueName: "number"))
    var relevance: Double?

    func validate() throws {
        guard relevance?.isFinite ?? true else { throw ValidationError("--relevance is a number such as 0.5 or 50") }
    }

    var json: RawJSON? { relevance.flatMap(RawJSON.number) }
}

/// What a person is told.
struct AlertOptions: ParsableArguments {
    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("The title of an alert that goes with it.", valueName: "text"))
    var alertTitle: String?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("The text of an alert that goes with it.", valueName: "text"))
    var alertBody: String?

    var json: RawJSON? {
        guard alertTitle != nil || alertBody != nil else { return nil }
        return .object([
            .init("title", .string(alertTitle ?? "")), .init("body", .string(alertBody ?? "")),
            .init("sound", .string("default")),
        ])
    }
}
