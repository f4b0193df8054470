package import IsletCore

/// What the bytes of an entry, which were checked when its timeline came, say that a tap opens.
package enum EntryReading {
    /// The entry's own URL: the JSON string with its quotes; nil where it has none.
    package static func url(of entry: Span<UInt8>) -> [UInt8]? {
        member("url", of: entry, .string).map { entry.copy($0.range) }
    }

    /// The URL of one of its links: the JSON string with its quotes; nil where it has no such link.
    ///
    /// - Parameter name: without quotes and escapes, as it stands in a command.
    package static func link(named name: [UInt8], of entry: Span<UInt8>) -> [UInt8]? {
        guard let links = member("links", of: entry, .object) else { return nil }
        var url: [UInt8]?
        try? JSONScanner.scanObject(entry, at: links.range) { link in
            guard url == nil, link.value.kind == .string else { return }
            var text: [UInt8] = []
            if link.name.unescape(in: entry, into: &text), text == name { url = entry.copy(link.value.range) }
        }
        return url
    }

    private static func member(_ name: StaticString, of entry: Span<UInt8>, _ kind: JSONKind) -> JSONValue? {
        var found: JSONValue?
        // What is stored was scanned before; bytes that are no entry have no members.
        try? JSONScanner.scanObject(entry) { member in
            if found == nil, member.name.equals(name, in: entry), member.value.kind == kind { found = member.value }
        }
        return found
    }
}

extension Engine {
    /// What a tap on a widget opens: the JSON string with its quotes; nil where what it shows has no URL.
    package func entryURL(of record: WidgetRecord) -> [UInt8]? {
        withEntry(of: record) { EntryReading.url(of: $0.assumingMemoryBound(to: UInt8.self).span) }
    }

    /// What a tap on a link opens; nil where what the widget shows has no such link.
    package func entryLink(named name: [UInt8], of record: WidgetRecord) -> [UInt8]? {
        withEntry(of: record) { EntryReading.link(named: name, of: $0.assumingMemoryBound(to: UInt8.self).span) }
    }
}
