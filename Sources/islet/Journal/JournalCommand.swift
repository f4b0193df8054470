import ArgumentParser

/// `islet journal …`: the files themselves, whether a service runs or not.
struct JournalCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "journal",
        abstract: "Look into a service's files, and prove them sound.",
        discussion: """
            EXAMPLES:
              islet journal verify
              islet journal stats --data /srv/islet
              islet journal dump --from 1200 | jq .event
              islet journal rebuild --data /srv/islet --to /srv/islet-2

            The files are SQLite's, so sqlite3 reads them too:
              sqlite3 -readonly DIR/state.db 'select * from live limit 5'
              sqlite3 -readonly DIR/state.db 'select * from deadlines limit 5'
              sqlite3 -readonly DIR/journal-000001.db 'select * from events limit 5'
            """,
        subcommands: [Verify.self, Dump.self, Stats.self, Rebuild.self])
}
