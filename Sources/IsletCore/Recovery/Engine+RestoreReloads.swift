/// Reloads of many that a command asked for and that are on their way, as facts: small ones, since a reload of an app is
/// one, however many kinds it has and whatever these declare.
extension Engine {
    private static let controlReloadTag = UInt8(ascii: "m")
    private static let widgetReloadTag = UInt8(ascii: "n")
    /// The layout of their values.
    private static let reloadVersion: UInt8 = 1

    /// The key of a reload of controls: app and kind with a slash between them, which neither may hold; all kinds are none.
    package func factKey(controlReload kinds: SweptKinds) -> [UInt8] {
        [Engine.controlReloadTag] + apps[kinds.app].name + [UInt8(ascii: "/")]
            + (kinds.kind.map { controls.kinds[$0].name } ?? [])
    }

    /// The same of widgets.
    package func factKey(widgetReload kinds: SweptKinds) -> [UInt8] {
        [Engine.widgetReloadTag] + apps[kinds.app].name + [UInt8(ascii: "/")]
            + (kinds.kind.map { widgets.kinds[$0].name } ?? [])
    }

    /// Why controls are reloaded; false where all of them were reached.
    package func writeFact(controlReload kinds: SweptKinds, to writer: inout ImageWriter) -> Bool {
        guard let cause = controls.unswept[kinds] else { return false }
        writer.write(byte: Engine.reloadVersion)
        writer.write(byte: cause.rawValue)
        return true
    }

    /// Why widgets are reloaded, and since when; false where all of them were reached.
    package func writeFact(widgetReload kinds: SweptKinds, to writer: inout ImageWriter) -> Bool {
        guard let unswept = widgets.unswept[kinds] else { return false }
        writer.write(byte: Engine.reloadVersion)
        unswept.write(to: &writer)
        return true
    }

    /// Takes a reload back, or that it is over; false where the key is of another fact.
    ///
    /// - Parameter value: nil: it is over.
    package mutating func restoreReload(
        _ key: Span<UInt8>, _ value: Span<UInt8>?, isInSnapshot: Bool
    ) throws(ImageError) -> Bool {
        guard key.count > 1, key[0] == Engine.controlReloadTag || key[0] == Engine.widgetReloadTag else { return false }
        guard let slash = (1..<key.count).first(where: { key[$0] == UInt8(ascii: "/") }) else { throw .unknownValue }
        let appName = key.bytes(FrameRange(1..<slash))
        let name = key.bytes(FrameRange(slash + 1..<key.count))
        var kinds = SweptKinds(app: try app(named: appName))
        let isOfControls = key[0] == Engine.controlReloadTag
        if !name.isEmpty {
            kinds.kind =
                isOfControls
                ? controls.kinds.kind(kinds.app, named: appName, name)
                : widgets.kinds.kind(kinds.app, named: appName, name)
            guard kinds.kind != nil else { throw .contradiction("more kinds than there may be") }
        }
        if isOfControls {
            controls.unswept[kinds] = try Engine.readReload(value) { reader throws(ImageError) in try reader.value() }
            if !isInSnapshot { controls.changedReloads.insert(kinds) }
        } else {
            widgets.unswept[kinds] = try Engine.readReload(value) { reader throws(ImageError) in
                try UnsweptReload(&reader)
            }
            if !isInSnapshot { widgets.changedReloads.insert(kinds) }
        }
        return true
    }

    private static func readReload<Reload>(
        _ value: Span<UInt8>?, _ body: (inout ImageReader) throws(ImageError) -> Reload
    ) throws(ImageError) -> Reload? {
        guard let value else { return nil }
        return try ImageReader.read(value) { reader throws(ImageError) in
            let version = try reader.byte()
            guard version == reloadVersion else { throw ImageError.unknownVersion(version) }
            return try body(&reader)
        }
    }
}

extension UnsweptReload {
    init(_ reader: inout ImageReader) throws(ImageError) {
        let since = try reader.instant()
        guard since.isSet, since.isPlausible else { throw .contradiction("a date in no century") }
        self.init(since: since, cause: try reader.value())
    }

    func write(to writer: inout ImageWriter) {
        writer.write(since)
        writer.write(byte: cause.rawValue)
    }
}
