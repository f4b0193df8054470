import ArgumentParser
import Glibc
import IsletClient
import IsletFilter

/// `islet backup`.
struct Backup: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Copy everything into one file, while it runs.",
        discussion: """
            EXAMPLES:
              islet backup /var/backups/islet/$(date +%F).db
              islet restore /var/backups/islet/2026-11-21.db --data /srv/islet

            The service itself writes the file, so it must lie on the service's machine, and
            the service's user must be able to write there. The file is a whole and consistent
            copy of the state: activities, settings, devices. Of the journal it holds only the
            end: histories, replays and retries reach back to there and no further.

            A copy may take as long as it needs, up to an hour. The service is asked all the while
            whether it is there, and may take six times the time-out to say so: it answers nothing
            while its disk is busy with one commit.
            """)

    @Argument(help: ArgumentHelp("The file, which must not be there yet.", valueName: "file"))
    var file: String
    @OptionGroup var output: OutputOptions
    @OptionGroup var service: ServiceOptions

    func run() async throws {
        let path = file.first == "/" ? file : try currentDirectory() + "/" + file
        try await service.withConnection { connection in
            try await connection.send(Command("service.ping"))
            let answer = try await ProgressLine.during {
                "writing \(path)"
            } _: {
                try await copy(to: path, connection)
            }
            if output.json {
                Console.data(answer.json.bytes)
            } else {
                Console.data("wrote \(path), \(RecoveryText.grouped(Int(answer["bytes"]?.integer ?? 0))) bytes")
            }
            guard Self.isMissing(path) else { return }
            Console.message(
                "\(path) is not there for this command: the service sees other files, as in a container, on another "
                    + "machine or with a /tmp of its own; fetch it from there before that is gone")
        }
    }

    /// Whether nothing is at a path, as far as this process may look.
    private static func isMissing(_ path: String) -> Bool { access(path, F_OK) != 0 && errno == ENOENT }

    /// How long a copy may take at most.
    private static let patience = Duration.seconds(3_600)

    /// For so many time-outs the service may be silent. It answers nothing during a commit, which the copy itself makes slow.
    private static let silences = 6

    /// The answer, which takes as long as the copy does. The service is to be there all the while.
    private func copy(to path: String, _ connection: IsletConnection) async throws -> Answer {
        var command = Command("service.backup")
        command["path"] = .string(path)
        let patience = max(service.timeout.duration, Self.patience)
        let (sent, interval) = (command, service.timeout.duration)
        return try await withThrowingTaskGroup(of: Answer.self) { tasks in
            tasks.addTask { try await connection.send(sent, timeout: patience) }
            tasks.addTask { try await Self.watch(connection, every: interval) }
            defer { tasks.cancelAll() }
            guard let answer = try await tasks.next() else { preconditionFailure("a group of two tasks is empty") }
            return answer
        }
    }

    /// Asks after this time, again and again, whether the service is still there; it ends by throwing alone.
    private static func watch(_ connection: IsletConnection, every time: Duration) async throws -> Answer {
        var hasSaid = false
        while true {
            try await Task.sleep(for: time)
            let isFull = try await isFull(connection, within: time * silences)
            if isFull, !hasSaid {
                Console.message("the disk of the service's data is full: it may say that the copy is made only when there is room")
            }
            hasSaid = isFull
        }
    }

    /// Whether the disk of the service's own data is.
    private static func isFull(_ connection: IsletConnection, within time: Duration) async throws(IsletError) -> Bool {
        do throws(IsletError) {
            let answer = try await connection.send(Command("service.stats"), timeout: time)
            return answer["stats"]?.object?["diskFull"]?.bool ?? false
        } catch {
            guard case .timedOut(let time, _) = error else { throw error }
            throw .timedOut(after: time, change: UnansweredChange(op: "service.backup", wasSent: true))
        }
    }

    private func currentDirectory() throws -> String {
        guard let path = getcwd(nil, 0) else { throw Failure(.failure, "the present directory cannot be told") }
        defer { free(path) }
        return String(cString: path)
    }
}
