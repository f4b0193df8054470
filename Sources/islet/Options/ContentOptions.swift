import ArgumentParser
import IsletClient
import IsletFilter

/// When content is out of date.
struct StaleOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("Out of date after this long in the service's time, such as 30s or 10m.", valueName: "span"))
    var staleIn: Span?

    @Option(help: ArgumentHelp("Out of date at this date, such as 2026-01-31T09:00Z.", valueName: "date"))
    var staleAt: Moment?

    /// The date, where domain time stands at `now()`, which is asked only if needed.
    func staleDate(now: () async throws -> Int64) async throws -> RawJSON? {
        let moment = staleIn.map { Moment.fromNow(milliseconds: $0.milliseconds) } ?? staleAt
        guard let moment else { return nil }
        return .integer(try await moment.resolved(now: now))
    }
}

/// What a person is told.
struct AlertOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The title of an alert that goes with it.", valueName: "text"))
    var alertTitle: String?

    @Option(help: ArgumentHelp("The text of an alert that goes with it.", valueName: "text"))
    var alertBody: String?

    var json: RawJSON? {
        guard alertTitle != nil || alertBody != nil else { return nil }
        return .object([
            .init("title", .string(alertTitle ?? "")), .init("body", .string(alertBody ?? "")),
            .init("sound", .string("default")),
        ])
    }
}
