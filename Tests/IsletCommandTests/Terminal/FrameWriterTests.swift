import Testing
import islet

@Suite("Lines on a terminal")
struct FrameWriterTests {
    private let size = ScreenSize(columns: 10, rows: 3)

    @Test("Only the lines that are other than before are written")
    func differences() {
        var writer = FrameWriter(hasColours: true)
        let first = writer.text(for: [StyledLine("one"), StyledLine("two")], size: size)
        #expect(first.contains("\u{1B}[2J") && first.contains("\u{1B}[1;1Hone") && first.contains("\u{1B}[2;1Htwo"))
        #expect(writer.text(for: [StyledLine("one"), StyledLine("two")], size: size).isEmpty)
        #expect(writer.text(for: [StyledLine("one"), StyledLine("2")], size: size) == "\u{1B}[2;1H2\u{1B}[K")
        #expect(writer.text(for: [StyledLine("one")], size: size) == "\u{1B}[2;1H\u{1B}[K")
        writer.forget()
        #expect(writer.text(for: [StyledLine("one")], size: size).contains("\u{1B}[1;1Hone"))
        let other = writer.text(for: [StyledLine("one")], size: ScreenSize(columns: 20, rows: 3))
        #expect(other.contains("\u{1B}[2J"))
    }

    @Test("No line is longer than the screen, and no more lines are written than it has")
    func bounds() {
        var writer = FrameWriter(hasColours: false)
        let lines = (0..<9).map { StyledLine("line \($0) is very long", .wrong) }
        let text = writer.text(for: lines, size: size)
        #expect(text.contains("line 0 is…") && text.contains("\u{1B}[3;1H") && !text.contains("\u{1B}[4;1H"))
        #expect(writer.text(for: lines, size: ScreenSize(columns: 0, rows: 0)).contains("\u{1B}[2J"))
    }

    @Test("Colours are left out where there are to be none; weight stays")
    func colours() {
        #expect(StyledLine("x", .wrong).coded(hasColours: true) == "\u{1B}[1;31mx\u{1B}[0m")
        #expect(StyledLine("x", .wrong).coded(hasColours: false) == "\u{1B}[1mx\u{1B}[0m")
        #expect(StyledLine("x").coded(hasColours: true) == "x")
    }

    @Test(
        "What a terminal would obey is shown and not obeyed",
        arguments: [
            ("\u{1B}[2J", "␛[2J"), ("a\r\nb\tc\0", "a␍␊b␉c␀"), ("\u{7F}\u{9B}31m", "␡\u{FFFD}31m"),
            ("\u{202E}abc\u{2066}", "\u{FFFD}abc\u{FFFD}"), ("\u{200B}\u{FEFF}", "\u{FFFD}\u{FFFD}"),
            ("Grüße, 東京 👩\u{200D}🚀", "Grüße, 東京 👩\u{200D}🚀"), ("plain", "plain"),
        ])
    func printable(text: String, shown: String) {
        #expect(text.printable == shown)
        #expect(StyledLine(text).text == shown)
    }

    @Test("Marks over a character are bounded")
    func marks() {
        #expect(("e" + String(repeating: "\u{301}", count: 1_000)).printable.unicodeScalars.count == 5)
    }

    @Test("Wide characters count twice, and are never cut in two")
    func columns() {
        #expect("東京".columns == 4 && "é".columns == 1 && "e\u{301}".columns == 1 && "🚀".columns == 2)
        #expect("東京".cut(toColumns: 3) == "東")
        #expect(StyledLine("東京都").fitted(to: 4).text == "東…")
        #expect("one two three".wrapped(toColumns: 8) == ["one two ", "three"])
        #expect("abcdefgh".wrapped(toColumns: 3) == ["abc", "def", "gh"])
        #expect("東京".wrapped(toColumns: 1) == ["東", "京"])
    }
}
