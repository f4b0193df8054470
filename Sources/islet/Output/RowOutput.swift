import IsletClient

/// The rows of a list on standard output, in the form that was asked for.
enum RowOutput {
    /// - Parameters:
    ///   - name: what another subcommand takes for a row.
    ///   - table: the lines of the table, wide or not; it is not asked for where there are no rows.
    static func write(
        _ rows: [RawObject], _ output: OutputOptions, name: (RawObject) -> String,
        table: (_ isWide: Bool) async throws -> [String]
    ) async throws {
        if output.json {
            for row in rows { Console.data(row.json.bytes) }
        } else if output.isNames {
            for row in rows { Console.data(name(row)) }
        } else if !rows.isEmpty {
            for line in try await table(output.isWide) { Console.data(line) }
        }
    }
}
