import IsletJournal
import IsletServer
import Testing

/// `service.backup` takes as long as there is much to copy: longer than clients wait before they send a command again.
@Suite struct BackupCommandTests {
    private static let command =
        #"{"op":"service.backup","req":"r1","client":"8c7a1c38-6a5e-4f0f-9a43-0d2f6f1d2c11","path":"/b.db"}"#

    private func made(_ request: BackupRequest, bytes: Int) -> JournalNotice {
        .backedUp(BackupResult(id: request.id, outcome: .success(bytes)))
    }

    @Test func theSameCommandAgainWaitsForTheBackupThatIsBeingMade() throws {
        let service = try PartitionService()
        #expect(service.send(Self.command).isEmpty && service.send(Self.command).isEmpty)
        #expect(service.journal.backups.map(\.path) == ["/b.db"])
        let answers = service.tell(made(try #require(service.journal.backups.first), bytes: 42))
        #expect(answers == Array(repeating: #"{"req":"r1","ok":true,"bytes":42}"#, count: 2))
    }

    @Test func anotherOneIsRefusedMeanwhileAndMadeAfterwards() throws {
        let service = try PartitionService()
        let other = Self.command.replacing("r1", with: "r2")
        #expect(service.send(Self.command).isEmpty)
        #expect(service.send(other).contains("another backup is being made"))
        #expect(service.tell(made(try #require(service.journal.backups.first), bytes: 1)).count == 1)
        #expect(service.send(other).isEmpty)
        #expect(service.journal.backups.count == 2)
    }

    @Test func oneThatIsMadeAfterTheServiceBeganToStopIsRefusedOnce() throws {
        let service = try PartitionService()
        #expect(service.send(Self.command).isEmpty)
        service.partition.stop()
        let refused = service.send(#"{"op":"service.ping"}"#)
        #expect(refused.contains(#""req":"r1","ok":false"#) && refused.contains("unavailable"), "\(refused)")
        #expect(service.tell(made(try #require(service.journal.backups.first), bytes: 1)).isEmpty)
    }
}
