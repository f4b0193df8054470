import ArgumentParser
import IsletClient
import IsletFilter

extension ActivityCommand {
    /// `islet activity list`.
    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List the activities that are open or ended.",
            discussion: """
                EXAMPLES:
                  islet activity list
                  islet activity list --state stale --all              of all apps
                  islet activity list --state stale --type Delivery
                  islet activity list --device phone-1 --order presentation
                  islet activity list --filter 'state=stale and key~order-'
                  islet activity list --filter 'next<10m or not device' -o wide
                  islet activity list -o name           as get and end take them
                  islet activity list --json | jq -r .key

                --filter compares members of the JSON: = != < <= > >= and ~ (contains, or
                with * the whole: order-*), joined by and, or, not and parentheses. Dates
                are 2026-01-31, 2026-01-31T09:00Z, or spans from now; a member alone
                selects what has it, a flag such as a control's isDisabled what it is true of.
                What there is not is wrong usage; presentation is there with --order
                presentation alone.

                -o name: a key names one on no device by itself. The others are named by their
                ids, which also say which device is meant.
                """)

        @Option(
            help: ArgumentHelp("Only these: pending, active, stale, ended or dismissed.", valueName: "state"),
            completion: .list(["pending", "active", "stale", "ended", "dismissed"]))
        var state: String?

        @Option(help: ArgumentHelp("Only of this type.", valueName: "name"))
        var type: String?

        @Option(help: ArgumentHelp("Only those whose key begins so.", valueName: "prefix"))
        var key: String?

        @Option(
            help: ArgumentHelp("Only of this device.", valueName: "device"), completion: .custom(Completions.devices))
        var device: String?

        @Option(
            help: ArgumentHelp(
                "presentation: as the device shows them, of all apps where none is named (needs --device).",
                valueName: "order"))
        var order: String?

        @OptionGroup var filter: FilterOption<ListedActivities>
        @OptionGroup var limit: LimitOption
        @OptionGroup var app: AppOption
        @OptionGroup var allApps: AllAppsOption
        @OptionGroup var output: OutputOptions
        @OptionGroup var service: ServiceOptions

        func validate() throws {
            guard order == nil || device != nil else { throw ValidationError("--order presentation needs --device") }
            // Only in the order of presentation a row has its place there.
            try filter.check(for: order == "presentation" ? .presentedActivity : .activity)
        }

        func run() async throws {
            var list = EntityList(
                app: app, allApps: allApps, limit: limit, filter: filter.filter, output: output, service: service)
            // Its apps share the device: which is on top no table of one app tells.
            list.isOneOfAllApps = order == "presentation"
            let fields: RawObject = if let order { ["order": .string(order)] } else { [:] }
            try await list.write(["state": state, "type": type, "key": key, "device": device], fields: fields)
        }
    }
}
