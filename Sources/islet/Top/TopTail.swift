import Synchronization

/// Lines of a tail that the screen has yet to take; of very many the newest are kept.
final class TopTail: Sendable {
    private let lines = Mutex<[String]>([])

    func add(_ more: [String]) {
        lines.withLock { lines in
            lines += more
            if lines.count > 2 * TopModel.tailLinesMax { lines = Array(lines.suffix(TopModel.tailLinesMax)) }
        }
    }

    func take() -> [String] {
        lines.withLock { lines in
            defer { lines = [] }
            return lines
        }
    }
}
