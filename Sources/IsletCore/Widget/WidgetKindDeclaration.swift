/// What a provider declares of a widget kind (apple-semantics 5).
///
/// Texts are JSON strings with their quotes, byte for byte as they were declared; empty where absent.
package struct WidgetKindDeclaration: KindDeclaration, Equatable {
    /// What renderers may be asked for; carried and checked, never interpreted.
    package struct Rendering: Equatable, Sendable {
        package var modes: [[UInt8]] = []
        package var accentedGroups: [[UInt8]] = []
        package var isContainerBackgroundRemovable = true
        package var mountingStyles: [[UInt8]] = []
        package var texture: [UInt8] = []
        package var levelsOfDetail: [[UInt8]] = []

        package init() {}

        /// Whether both allow the same.
        fileprivate func means(_ other: Rendering) -> Bool {
            isContainerBackgroundRemovable == other.isContainerBackgroundRemovable && texture == other.texture
                && modes.names(other.modes) && accentedGroups.names(other.accentedGroups)
                && mountingStyles.names(other.mountingStyles) && levelsOfDetail.names(other.levelsOfDetail)
        }
    }

    package var kind: [UInt8]
    package var families: [WidgetFamily]
    package var displayName: [UInt8] = []
    package var description: [UInt8] = []
    package var parameters: [KindParameter] = []
    /// The exact bytes of the JSON value that placeholders are drawn from; empty: none.
    package var placeholder: [UInt8] = []
    package var promptsForUserConfiguration = false
    package var providesRelevance = false
    package var providesRecommendations = false
    /// The words `small` and `medium`: watch and car.
    package var supplementalFamilies: [[UInt8]] = []
    package var rendering = Rendering()
    /// How long a timeline or a snapshot may take, in milliseconds of real time.
    package var timelineDeadline: Milliseconds = 5_000
    /// How long an action may take, in milliseconds of real time.
    package var actionDeadline: Milliseconds = 10_000
    package var json: [UInt8] = []

    package init(kind: [UInt8], families: [WidgetFamily]) {
        self.kind = kind
        self.families = families
    }

    /// A member of a declaration.
    package enum Member: String, Sendable, CaseIterable {
        case families, displayName, description, parameters, placeholder, promptsForUserConfiguration
        case providesRelevance, providesRecommendations, supplementalFamilies, rendering, timelineDeadline
        case actionDeadline
    }

    /// The first member in which another declaration of the same kind differs; nil where both mean the same.
    package func difference(from other: WidgetKindDeclaration) -> Member? {
        // What placed widgets depend on comes first.
        if !families.names(other.families) { return .families }
        if displayName != other.displayName { return .displayName }
        if description != other.description { return .description }
        if parameters != other.parameters { return .parameters }
        if placeholder != other.placeholder { return .placeholder }
        if promptsForUserConfiguration != other.promptsForUserConfiguration { return .promptsForUserConfiguration }
        if providesRelevance != other.providesRelevance { return .providesRelevance }
        if providesRecommendations != other.providesRecommendations { return .providesRecommendations }
        if !supplementalFamilies.names(other.supplementalFamilies) { return .supplementalFamilies }
        if !rendering.means(other.rendering) { return .rendering }
        if timelineDeadline != other.timelineDeadline { return .timelineDeadline }
        if actionDeadline != other.actionDeadline { return .actionDeadline }
        return nil
    }
}

extension Array where Element: Hashable {
    /// Whether both name the same. What is only named has no order: a process that has it as a set names it in one of its
    /// own, and another one of the same provider in another.
    fileprivate func names(_ others: [Element]) -> Bool { self == others || Set(self) == Set(others) }
}
