import ArgumentParser
import IsletClient

/// What is selected of a list or a stream, on this side.
struct FilterOption: ParsableArguments {
    @Option(
        name: .customLong("filter"),
        help: ArgumentHelp(
            "Only what fits, such as 'state=stale and key~order-' or 'next<10m or not device'.",
            valueName: "conditions"))
    var text: String?

    func validate() throws {
        do throws(FilterError) {
            _ = try read()
        } catch {
            throw ValidationError(error.description)
        }
    }

    /// What was asked for; nil where nothing was.
    var filter: Filter? { try? read() }

    private func read() throws(FilterError) -> Filter? {
        guard let text else { return nil }
        return try Filter(text)
    }
}
