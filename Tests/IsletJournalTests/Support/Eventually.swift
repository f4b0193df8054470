/// Whether something becomes true that no one tells of, such as what a thread has let go of.
///
/// It is looked at again after a moment, and not in a loop of yields, which takes one of the two threads that a thousand
/// other tests run on.
func eventually(within limit: Duration = .seconds(300), _ isTrue: () throws -> Bool) async throws -> Bool {
    let deadline = ContinuousClock.now + limit
    while try !isTrue() {
        guard ContinuousClock.now < deadline else { return false }
        try await Task.sleep(for: .milliseconds(5))
    }
    return true
}
