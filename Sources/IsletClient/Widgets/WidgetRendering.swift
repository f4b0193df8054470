/// How a renderer colours a widget.
public enum WidgetRenderingMode: String, Sendable, Hashable, CaseIterable {
    case fullColor, accented, vibrant
}

/// How a widget is fixed to a surface.
public enum WidgetMountingStyle: String, Sendable, Hashable, CaseIterable {
    case elevated, recessed
}

/// What a widget looks to be made of.
public enum WidgetTexture: String, Sendable, Hashable, CaseIterable {
    case glass, paper
}

/// How much a widget shows: less where it is seen from afar.
public enum WidgetLevelOfDetail: String, Sendable, Hashable, CaseIterable {
    case `default`, simplified
}

/// The places beside a phone's: a watch, a car.
public enum SupplementalFamily: String, Sendable, Hashable, CaseIterable {
    case small, medium
}

/// How one placed widget is drawn, of what its kind says that it can be; nil: not said. The service carries it,
/// renderers read it.
public struct WidgetRendering: Sendable, Hashable {
    /// How it is coloured.
    public var mode: WidgetRenderingMode?
    /// How it is fixed.
    public var mountingStyle: WidgetMountingStyle?
    /// How much it shows.
    public var levelOfDetail: WidgetLevelOfDetail?
    /// False where its background is removed.
    public var showsContainerBackground: Bool?
    /// Where it is shown beside the phone.
    public var supplementalFamily: SupplementalFamily?

    /// A rendering of these.
    public init(
        mode: WidgetRenderingMode? = nil, mountingStyle: WidgetMountingStyle? = nil,
        levelOfDetail: WidgetLevelOfDetail? = nil, showsContainerBackground: Bool? = nil,
        supplementalFamily: SupplementalFamily? = nil
    ) {
        self.mode = mode
        self.mountingStyle = mountingStyle
        self.levelOfDetail = levelOfDetail
        self.showsContainerBackground = showsContainerBackground
        self.supplementalFamily = supplementalFamily
    }

    /// Reads an entity's or a call's; what a later service says beyond it is left out.
    init(_ members: RawObject) {
        mode = members["mode"]?.string.flatMap(WidgetRenderingMode.init(rawValue:))
        mountingStyle = members["mountingStyle"]?.string.flatMap(WidgetMountingStyle.init(rawValue:))
        levelOfDetail = members["levelOfDetail"]?.string.flatMap(WidgetLevelOfDetail.init(rawValue:))
        showsContainerBackground = members["showsContainerBackground"]?.bool
        supplementalFamily = members["supplementalFamily"]?.string.flatMap(SupplementalFamily.init(rawValue:))
    }

    var json: RawJSON {
        var members = RawObject()
        members["mode"] = mode.map { .string($0.rawValue) }
        members["mountingStyle"] = mountingStyle.map { .string($0.rawValue) }
        members["levelOfDetail"] = levelOfDetail.map { .string($0.rawValue) }
        members["showsContainerBackground"] = showsContainerBackground.map(RawJSON.bool)
        members["supplementalFamily"] = supplementalFamily.map { .string($0.rawValue) }
        return members.json
    }
}

/// What all widgets of a kind can be drawn as.
struct RenderingSupport: Sendable, Hashable {
    var modes: [WidgetRenderingMode] = []
    var accentedGroups: [String] = []
    var isContainerBackgroundRemovable = false
    var mountingStyles: [WidgetMountingStyle] = []
    var texture: WidgetTexture?
    var levelsOfDetail: [WidgetLevelOfDetail] = []

    /// As `provider.register` declares it; nil where nothing is said.
    var json: RawJSON? {
        var members = RawObject()
        if !modes.isEmpty { members["modes"] = .names(modes) }
        if !accentedGroups.isEmpty { members["accentedGroups"] = .array(accentedGroups.map(RawJSON.string)) }
        if isContainerBackgroundRemovable { members["containerBackgroundRemovable"] = .bool(true) }
        if !mountingStyles.isEmpty { members["mountingStyles"] = .names(mountingStyles) }
        members["texture"] = texture.map { .string($0.rawValue) }
        if !levelsOfDetail.isEmpty { members["levelsOfDetail"] = .names(levelsOfDetail) }
        return members.members.isEmpty ? nil : members.json
    }
}

extension RawJSON {
    /// The names of an enumeration's cases.
    static func names(_ cases: some Sequence<some RawRepresentable<String>>) -> RawJSON {
        .array(cases.map { .string($0.rawValue) })
    }
}
