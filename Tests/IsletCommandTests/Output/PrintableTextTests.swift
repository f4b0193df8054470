import IsletClient
import Testing
import islet

@Suite("Text of users on its way to a terminal")
struct PrintableTextTests {
    /// Escape, end of line, bidirectional override, C1 control, delete.
    private let hostile = "a\u{1B}[31m\u{1B}]0;x\u{7}\nb\u{202E}c\u{9B}2J\u{7F}"
    private let visible = "a␛[31m␛]0;x␇␊b\u{FFFD}c\u{FFFD}2J␡"

    @Test("obeys nobody, whatever is in it")
    func printable() {
        #expect(hostile.printable == visible)
        #expect(hostile.printable.printable == visible)
        #expect("Zürich 👩‍🚀 東京 order-7".printable == "Zürich 👩‍🚀 東京 order-7")
    }

    @Test("a whole line keeps this command's own colours, and no other code")
    func ink() {
        #expect("\u{1B}[32mactive\u{1B}[0m".printable(keepsInk: true) == "\u{1B}[32mactive\u{1B}[0m")
        #expect("\u{1B}[1;31mno\u{1B}[0m".printable(keepsInk: true) == "\u{1B}[1;31mno\u{1B}[0m")
        #expect("\u{1B}[32mactive".printable(keepsInk: true) == "\u{1B}[32mactive\u{1B}[0m")
        #expect("\u{1B}[32mactive\u{1B}[0m".printable(keepsInk: false) == "␛[32mactive␛[0m")
        for code in ["[8m", "[2J", "[H", "]0;title\u{7}", "[38;5;1m", "[32", "c", ""] {
            #expect(!"x\u{1B}\(code)y".printable(keepsInk: true).contains("\u{1B}"), "\(code)")
        }
    }

    @Test("JSON in several lines is one line that means the same")
    func oneLine() {
        let json = Array("{\r\n  \"a\": \"\\n\u{2028}\",\r\t\"b\":\n1}".utf8)
        #expect(String(decoding: json.onOneLine, as: UTF8.self) == "{    \"a\": \"\\n\u{2028}\", \t\"b\": 1}")
        #expect(Array("{\"a\":\"\\n\"}".utf8).onOneLine == Array("{\"a\":\"\\n\"}".utf8))
    }

    @Test("a table's cells and a coloured text are printable, also with colours")
    func table() {
        var table = TextTable("KEY", "STATE")
        table.add(hostile, "active\u{1B}[2J")
        for isOn in [false, true] {
            let lines = table.lines(style: Style(isOn: isOn))
            #expect(lines.count == 2)
            #expect(lines[1].hasPrefix(visible + "  "))
            #expect(lines[1].contains("active␛[2J") && !lines[1].contains("\n"))
        }
    }

    @Test("an event's line shows names, contents, values, status and failures of users as they are, and in one line")
    func events() throws {
        let json = #"{"epoch":"e","seq":1,"at":1767225600000,"event":"control.shown","from":"loading","to":"shown","#
            + #""cause":"x\u001b[2J","control":{"id":"i","revision":2,"value":"v\u001b[2J\n","status":"s\u202e","#
            + #""failure":"f\u0007","contentState":{"n":"\#u{9B}2J"},"by":"b\u001b"}}"#
        let event = try #require(StreamEvent(topic: "a/control/K/i", bytes: Array(json.utf8)))
        for isOn in [false, true] {
            var lines = EventLines(style: Style(isOn: isOn), speed: 1)
            let line = try #require(lines.lines(event, name: hostile).last)
            #expect(line.contains(visible))
            let shown = line.printable(keepsInk: isOn)
            #expect(shown == line, "all is printable already")
            for piece in ["v␛[2J␊", "s\u{FFFD}", "f␇", "b␛"] { #expect(line.contains(piece)) }
        }
    }
}
