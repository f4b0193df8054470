import ArgumentParser
import IsletClient

/// `islet explain`: why anything is as it is, without saying of which family it is.
struct Explain: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Say why something is as it is, and what comes next.",
        discussion: """
            EXAMPLES:
              islet explain order-7
              islet explain order-7 --all
              islet explain Torch
              islet explain Flight --app com.example.travel --json

            Where no app is named it looks in all, and names the candidates if several
            are called so. It shows what it is and what happens next; then the last ten
            decisions: why each was made, who asked, by which rule (islet rules NAME
            shows it). islet activity explain and its like do the same within a family.
            """)

    @OptionGroup var target: AnyTarget
    @OptionGroup var decisions: DecisionsOption
    @OptionGroup var output: OutputOptions
    @OptionGroup var service: ServiceOptions

    func run() async throws {
        try await service.withConnection { connection in
            let found = try await target.find(connection)
            let answer = try await connection.send(found.command("explain"))
            try await ExplainText.write(answer, decisions, shown: found.family.shown, output, connection)
        }
    }
}
