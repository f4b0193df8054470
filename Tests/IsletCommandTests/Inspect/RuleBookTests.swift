import Testing
import islet

@Suite("The rules that explanations name")
struct RuleBookTests {
    @Test("each is found again by what a decision says of it")
    func found() {
        #expect(RuleBook.all.count > 100)
        for rule in RuleBook.all {
            let found = RuleBook.entry(source: rule.source, text: rule.text)
            #expect(found?.text == rule.text && found?.source == rule.source)
        }
        #expect(RuleBook.entry(source: "of another version", text: "") == nil)
    }

    @Test("each has details that say more than its words, in whole sentences, and name its setting")
    func details() {
        for rule in RuleBook.all {
            let text = rule.detail.text
            #expect(text.hasSuffix(".") && !text.contains("  ") && !text.contains("\n"), "\(rule.name)")
            #expect((80...500).contains(text.utf8.count), "\(rule.name): \(text.utf8.count) bytes")
            #expect(!text.contains(rule.text), "\(rule.name)")
            #expect(rule.setting.map { text.contains($0) } ?? true, "\(rule.name) does not name its setting")
        }
        #expect(Set(RuleBook.all.map(\.detail.text)).count == RuleBook.all.count, "two have the same")
    }

    @Test("each has words, a name that is one word, and says who made it")
    func words() {
        for rule in RuleBook.all {
            #expect(!rule.text.isEmpty && rule.name.allSatisfy { $0.isLetter })
            #expect(["Apple", "rule set", "Islet"].contains(rule.origin))
            #expect(rule.origin != "rule set" || rule.setting != nil)
        }
        let stale = RuleBook.entry(
            source: "apple-semantics 1.2 row 27",
            text: "it was active for the longest time allowed, so the system ended it")
        #expect(stale?.shown == "activeLimitReached (setting activeLimit)" && stale?.origin == "Apple")
    }
}
