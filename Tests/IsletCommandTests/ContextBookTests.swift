import IsletClient
import Testing
import islet

@Suite("A book of contexts")
struct ContextBookTests {
    @Test("is the same after it was written and read, with what it does not know")
    func roundTrip() throws {
        var book = ContextBook()
        var shop = ContextBook.Context(["commands": .string("tcp://127.0.0.1:7411"), "token": .string("\"x\"\n")])
        shop[.app] = "com.example.shop"
        book["shop"] = shop
        book["other"] = ContextBook.Context()
        let isUsed = book.use("shop")
        #expect(isUsed)
        let read = try ContextBook(book.bytes)
        #expect(read == book)
        #expect(read.current == "shop")
        #expect(read["shop"]?[.app] == "com.example.shop")
        #expect(read["shop"]?.members["token"]?.string == "\"x\"\n")
        #expect(try ContextBook(ContextBook().bytes) == ContextBook())
    }

    @Test("uses only what is there, and nothing more once that is taken out")
    func current() {
        var book = ContextBook()
        let before = book.use("shop")
        book["shop"] = ContextBook.Context()
        let there = book.use("shop")
        let misspelt = book.use("ship")
        #expect([before, there, misspelt] == [false, true, false])
        #expect(book.current == "shop")
        book["shop"] = nil
        #expect(book.current == nil)
        let none = book.use(nil)
        #expect(none)
    }

    @Test(
        "refuses what is no such file, and says which member it is",
        arguments: [
            ("", ContextBook.Problem.notJSON), ("[]", .notJSON), ("{}", .member("format")),
            (#"{"format":2}"#, .newer(format: 2)), (#"{"format":1}"#, .member("contexts")),
            (#"{"format":1,"contexts":{"a b":{}}}"#, .member("contexts.a b")),
            (#"{"format":1,"contexts":{"default":{}}}"#, .member("contexts.default")),
            (#"{"format":1,"contexts":{"a":{"commands":7}}}"#, .member("contexts.a.commands")),
            (#"{"format":1,"contexts":{"a":{}},"current":"b"}"#, .member("current")),
        ])
    func problems(_ text: String, _ problem: ContextBook.Problem) {
        #expect(throws: problem) { try ContextBook(Array(text.utf8)) }
    }

    @Test("has names of letters, digits and three marks")
    func names() {
        for name in ["shop", "a.b-c_1", String(repeating: "x", count: 64)] { #expect(ContextBook.isName(name)) }
        for name in ["", "default", "a b", "é", "a/b", String(repeating: "x", count: 65)] {
            #expect(!ContextBook.isName(name))
        }
    }
}

@Suite("Redaction")
struct RedactionTests {
    @Test("knows what gives access by its name")
    func names() {
        for name in ["token", "pushToken", "clientSecret", "PASSWORD", "apiKey"] { #expect(Redaction.isSecret(name)) }
        for name in ["key", "tokens", "commands", "app"] { #expect(!Redaction.isSecret(name)) }
    }

    @Test("takes the name and the password out of an endpoint")
    func endpoints() {
        #expect(Redaction.endpoint("tcp://me:secret@127.0.0.1:7411") == "tcp://••••@127.0.0.1:7411")
        for url in ["tcp://127.0.0.1:7411", "ipc:///run/islet", "", "me@here"] {
            #expect(Redaction.endpoint(url) == url)
        }
    }
}
