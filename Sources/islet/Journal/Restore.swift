import ArgumentParser
import IsletJournal

/// `islet restore`.
struct Restore: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Make a service's directory from a backup.",
        discussion: """
            EXAMPLES:
              islet restore /var/backups/islet/2026-11-21.db --data /srv/islet
              islet restore /var/backups/islet/2026-11-21.db --yes      without asking
              islet serve --data /srv/islet

            The directory must be empty or not there yet; no service may use it. The streams get
            a new epoch, so that everybody who follows them starts again from a snapshot. On a
            terminal it asks first.
            """)

    @Argument(help: ArgumentHelp("What islet backup made.", valueName: "file"))
    var file: String
    @Flag(help: "The directory may be in memory (tmpfs), which keeps no promise.")
    var allowVolatile = false
    @OptionGroup var consent: ConsentOption
    @OptionGroup var data: DataOptions

    func run() async throws {
        try consent.requireOfPerson("make \(data.directory) of \(file), with a new epoch")
        let epoch = freshEpoch()
        var options = StoreOptions { epoch }
        options.allowVolatile = allowVolatile
        let directory = data.directory
        try await ProgressLine.during { [file] in
            "restoring \(file)"
        } _: { [options] in
            try Store.restore(from: file, into: directory, epoch: epoch, options: options)
        }
        Console.data("restored \(file) into \(data.directory), with a new epoch")
    }
}
