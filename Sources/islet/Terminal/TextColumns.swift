/// How wide texts are on a terminal.
extension Character {
    /// 0 for a mark alone, 2 for East Asian wide characters and emoji, else 1.
    var columns: Int {
        if isASCII { return 1 }
        guard let first = unicodeScalars.first else { return 0 }
        switch first.properties.generalCategory {
        case .nonspacingMark, .enclosingMark: return 0
        case _: break
        }
        let isPicture = first.properties.isEmojiPresentation || unicodeScalars.contains("\u{FE0F}")
        return isPicture || Self.wideRanges.contains { $0.contains(first.value) } ? 2 : 1
    }

    /// The blocks of Unicode's East Asian Width W and F that matter.
    private static let wideRanges: [ClosedRange<UInt32>] = [
        0x1100...0x115F, 0x2E80...0x303E, 0x3041...0xA4CF, 0xA960...0xA97F, 0xAC00...0xD7A3, 0xF900...0xFAFF,
        0xFE30...0xFE6F, 0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x17000...0x18AFF, 0x1B000...0x1B2FF, 0x1F300...0x1F64F,
        0x1F680...0x1F6FF, 0x1F900...0x1FAFF, 0x20000...0x3FFFD,
    ]
}

extension String {
    /// The columns that the text takes.
    package var columns: Int { utf8.allSatisfy { $0 < 0x80 } ? utf8.count : reduce(0) { $0 + $1.columns } }

    /// The longest beginning that takes at most so many columns; never a part of a character.
    package func cut(toColumns limit: Int) -> String {
        var taken = 0
        return String(
            prefix { character in
                taken += character.columns
                return taken <= limit
            })
    }

    /// The pieces of at most so many columns that the text falls into, broken at blanks where that is possible.
    package func wrapped(toColumns limit: Int) -> [String] {
        let limit = max(limit, 1)
        var lines: [String] = []
        var rest = self[...]
        while String(rest).columns > limit {
            var piece = String(rest).cut(toColumns: limit)
            // A character that is wider than all there is stands alone.
            if piece.isEmpty { piece = String(rest.prefix(1)) }
            let blank = piece.lastIndex(of: " ")
            if let blank, piece.distance(from: piece.startIndex, to: blank) > piece.count / 2 {
                piece = String(piece[...blank])
            }
            rest = rest.dropFirst(piece.count)
            lines.append(piece)
        }
        return rest.isEmpty && !lines.isEmpty ? lines : lines + [String(rest)]
    }
}
