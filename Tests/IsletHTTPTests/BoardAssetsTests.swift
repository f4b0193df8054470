import HTTPTypes
import IsletHTTP
import Testing

struct BoardAssetsTests {
    private let assets = BoardAssets(folder: nil)

    @Test func thePageAndItsStyleAreBuiltIn() throws {
        let page = try #require(assets.asset("index.html"))
        #expect(page.contentType == "text/html; charset=utf-8" && !page.bytes.isEmpty)
        #expect(assets.asset("board.css")?.contentType == "text/css; charset=utf-8")
        #expect(assets.asset("nothing") == nil && assets.asset("") == nil)
    }

    /// The policy would not let it run.
    @Test func noPageHasScriptOrStyleOfItsOwn() {
        for file in boardFiles where file.name.hasSuffix(".html") {
            let text = "\(file.text)"
            #expect(!text.contains("<script>") && !text.contains("<style") && !text.contains(" style=\""))
        }
    }

    @Test func aBrowserThatHasItGetsItNotAgain() throws {
        let page = try #require(assets.asset("index.html"))
        #expect(page.reply(known: nil).status == .ok)
        #expect(page.reply(known: "\"0\"").body == page.bytes)
        for known in [page.tag, "W/\(page.tag)", "\"0\", \(page.tag)", "*"] {
            let reply = page.reply(known: known)
            #expect(reply.status == .notModified && reply.body.isEmpty)
        }
    }

    @Test func theTagIsThatOfTheContent() {
        let one = BoardAsset(name: "a.js", bytes: [1, 2])
        #expect(one.tag == BoardAsset(name: "a.js", bytes: [1, 2]).tag)
        #expect(one.tag != BoardAsset(name: "a.js", bytes: [2, 1]).tag)
    }
}
