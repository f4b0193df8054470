/// Makes the script of a failing seed shorter while it still fails: chunks of steps are left out, large ones first.
enum Shrinker {
    /// At most as many runs are tried.
    private static let maximumRuns = 600

    static func shrink(_ script: Script, failingAt step: Int) -> (script: Script, message: String) {
        var best = script
        best.steps = Array(script.steps.prefix(step + 1))
        guard var message = failure(best) else { return (script, "only with the steps after it") }
        let kind = kind(of: message)
        var chunk = max(1, best.steps.count / 2)
        var runs = 0
        while chunk >= 1, runs < maximumRuns {
            var start = 0
            var isShorter = false
            while start < best.steps.count, runs < maximumRuns {
                var candidate = best
                candidate.steps.removeSubrange(start..<min(start + chunk, candidate.steps.count))
                runs += 1
                if let found = failure(candidate), self.kind(of: found) == kind {
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

    /// A shorter script must fail in the same way: by the first words of the message.
    private static func kind(of message: String) -> Substring {
        let prefix = "at the end: "
        return (message.hasPrefix(prefix) ? message.dropFirst(prefix.count) : message[...]).prefix(16)
    }

    private static func failure(_ script: Script) -> String? {
        if case .failed(_, let message) = Run.run(script) { message } else { nil }
    }
}
