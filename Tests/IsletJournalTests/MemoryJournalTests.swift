import IsletJournal
import Testing

@Suite struct MemoryJournalTests {
    @Test func itCommitsAtOnceAndPromisesNothing() async {
        let journal: any Journal = MemoryJournal()
        #expect(journal.guarantee == .none)
        #expect(journal.append(JournalBatch(number: 1)) == .committed)
        #expect(journal.append(JournalBatch(number: 2)) == .committed)
        await journal.close()
    }

    @Test func aBatchOutOfOrderTraps() async {
        await #expect(processExitsWith: .failure) {
            _ = MemoryJournal(lastNumber: 4).append(JournalBatch(number: 6))
        }
    }
}
