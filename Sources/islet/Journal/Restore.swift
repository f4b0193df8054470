import ArgumentParser
import IsletCore
import IsletJournal
import IsletServer

/// `islet restore`.
struct Restore: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Make a service's directory from a backup.",
        discussion: """
            The directory must be empty or not there yet; no service may use it. The streams get
            a new epoch, so that everybody who follows them starts again from a snapshot.

            EXAMPLES:
              islet restore /var/backups/islet-2026-11-21.db --data /srv/islet
              islet serve --data /srv/islet
            """)

    @Argument(help: ArgumentHelp("What islet backup made.", valueName: "file"))
    var file: String
    @Flag(help: "The directory may be in memory (tmpfs), which keeps no promise.")
    var allowVolatile = false
    @OptionGroup var data: DataOptions

    func run() async throws {
        var random = SystemRandomNumberGenerator()
        let epoch = EntityID(
            version7At: Instant(ClockReading.system().wall), random: (random.next(), random.next())
        ).description
        var options = StoreOptions { epoch }
        options.allowVolatile = allowVolatile
        try Store.restore(from: file, into: data.directory, epoch: epoch, options: options)
        Console.data("restored \(file) into \(data.directory), with a new epoch")
    }
}
