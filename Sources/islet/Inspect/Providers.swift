import ArgumentParser

/// `islet providers`: the same as `islet provider list`, where an operator looks for it.
struct Providers: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show who computes what, with calls and failures.",
        discussion: """
            EXAMPLES:
              islet providers
              islet providers --filter 'state!=live or failures>0'
              islet providers --json | jq -c 'select(.state != "live")'

            A provider that is OPEN has failed too often in a row and is asked nothing
            for a while; HALFOPEN: one call tells whether it is well again. P50 and P99
            are from the call to the answer. This is the same as islet provider list.
            """)

    @OptionGroup var filter: FilterOption<ProviderRows>
    @OptionGroup var output: OutputOptions
    @OptionGroup var service: ServiceOptions

    func run() async throws {
        try await ProviderCommand.List.write(filter, output, service)
    }
}
