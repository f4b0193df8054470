/// Makes the script of a failing seed shorter while it still fails: chunks of steps are left out, large ones first.
enum Shrinker {
    /// At most as many runs are tried.
    private static let maximumRuns = 600

    static func shrink(_ script: Script, failingAt step: Int) -> (script: Script, message: String) {
        var best = script
        best.steps = Array(script.steps.prefix(step + 1))
        var message = failure(best) ?? "it fails only with the steps after it"
        var chunk = max(1, best.steps.count / 2)
        var runs = 0
        while chunk >= 1, runs < maximumRuns {
            var start = 0
            var isShorter = false
            while start < best.steps.count, runs < maximumRuns {
                var candidate = best
                candidate.steps.removeSubrange(start..<min(start + chunk, candidate.steps.count))
                runs += 1
                if let found = failure(candidate) {
                    (best, message, isShorter) = (candidate, found, true)
                } else {
                    start += chunk
                }
            }
            if chunk == 1, !isShorter { break }
            chunk = isShorter && chunk == 1 ? 1 : max(1, chunk / 2)
        }
        return (best, message)
    }

    private static func failure(_ script: Script) -> String? {
        if case .failed(_, let message) = Run.run(script) { message } else { nil }
    }
}
