import ArgumentParser
import Glibc
import IsletClient
import IsletFilter

/// `islet backup`.
struct Backup: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Copy everything into one file while the service goes on.",
        discussion: """
            EXAMPLES:
              islet backup /var/backups/islet/$(date +%F).db
              islet restore /var/backups/islet/2026-11-21.db --data /srv/islet

            The service itself writes the file, so it must lie on the service's machine, and
            the service's user must be able to write there. The file is a whole and consistent
            copy of the state: activities, settings, devices. Of the journal it holds only the
            end: histories, replays and retries reach back to there and no further.
            """)

    @Argument(help: ArgumentHelp("The file, which must not be there yet.", valueName: "file"))
    var file: String
    @OptionGroup var output: OutputOptions
    @OptionGroup var service: ServiceOptions

    func run() async throws {
        let path = file.first == "/" ? file : try currentDirectory() + "/" + file
        // The time-out is for the start of an answer that takes as long as the copy does.
        var patient = service
        patient.timeout = Span(milliseconds: max(service.timeout.milliseconds, 3_600_000))
        try await patient.withConnection { connection in
            var command = Command("service.backup")
            command["path"] = .string(path)
            let answer = try await ProgressLine.during {
                "writing \(path)"
            } _: { [command] in
                try await connection.send(command)
            }
            if output.json { return Console.data(answer.json.bytes) }
            Console.data("wrote \(path), \(RecoveryText.grouped(Int(answer["bytes"]?.integer ?? 0))) bytes")
        }
    }

    private func currentDirectory() throws -> String {
        guard let path = getcwd(nil, 0) else { throw Failure(.failure, "the present directory cannot be told") }
        defer { free(path) }
        return String(cString: path)
    }
}
