/// Which of a fixed number of lists hold something: one bit each, and above each 64 words of them a summary word, so that
/// a search skips 4096 empty lists with one look.
///
/// The words are behind pointers for the reason that ``TimerLists`` gives, and are safe in the same way: the struct is not
/// copyable, `init` fills them, `deinit` frees them once, and what comes from outside is checked against the count.
struct OccupancyMap: ~Copyable {
    private let count: Int
    private let words: UnsafeMutableBufferPointer<UInt64>
    /// Bit `w` of word `w / 64` is set when `words[w]` is not zero.
    private let summary: UnsafeMutableBufferPointer<UInt64>

    init(count: Int) {
        self.count = count
        words = .allocate(capacity: (count + 63) >> 6)
        words.initialize(repeating: 0)
        summary = .allocate(capacity: (words.count + 63) >> 6)
        summary.initialize(repeating: 0)
    }

    deinit {
        words.deallocate()
        summary.deallocate()
    }

    func contains(_ index: Int) -> Bool {
        check(index)
        return words[index >> 6] & (1 << UInt64(index & 63)) != 0
    }

    mutating func insert(_ index: Int) {
        check(index)
        words[index >> 6] |= 1 << UInt64(index & 63)
        summary[index >> 12] |= 1 << UInt64((index >> 6) & 63)
    }

    mutating func remove(_ index: Int) {
        check(index)
        words[index >> 6] &= ~(1 << UInt64(index & 63))
        if words[index >> 6] == 0 { summary[index >> 12] &= ~(1 << UInt64((index >> 6) & 63)) }
    }

    /// The smallest member in `range`.
    func first(in range: Range<Int>) -> Int? {
        guard !range.isEmpty else { return nil }
        check(range.lowerBound)
        let word = range.lowerBound >> 6
        let rest = words[word] & (.max << UInt64(range.lowerBound & 63))
        let found = rest != 0 ? (word << 6) + rest.trailingZeroBitCount : firstInWords(from: word + 1)
        guard let found, found < range.upperBound else { return nil }
        return found
    }

    /// The smallest member in `words[start...]`.
    private func firstInWords(from start: Int) -> Int? {
        guard start < words.count else { return nil }
        var group = start >> 6
        var rest = summary[group] & (.max << UInt64(start & 63))
        while rest == 0 {
            group += 1
            guard group < summary.count else { return nil }
            rest = summary[group]
        }
        let word = (group << 6) + rest.trailingZeroBitCount
        return (word << 6) + words[word].trailingZeroBitCount
    }

    /// The distance from `start` to the next member of `range`, going round at its end; 0 when `start` is a member.
    func distance(from start: Int, around range: Range<Int>) -> Int? {
        if let ahead = first(in: start..<range.upperBound) { return ahead - start }
        if let wrapped = first(in: range.lowerBound..<start) { return wrapped - start + range.count }
        return nil
    }

    private func check(_ index: Int) { precondition(index >= 0 && index < count, "there is no such list") }

    /// nil when every summary bit tells the truth about its word.
    func checkInvariants() -> String? {
        for word in words.indices {
            let summarised = summary[word >> 6] & (1 << UInt64(word & 63)) != 0
            if summarised != (words[word] != 0) { return "the summary bit of occupancy word \(word) is \(summarised)" }
        }
        return nil
    }
}
