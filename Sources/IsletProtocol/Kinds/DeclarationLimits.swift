package import IsletCore

/// What declarations of kinds may have, of controls and of widgets alike: they are all held in memory and shown in
/// errors, so a registration is small.
package enum DeclarationLimits {
    /// How many kinds each array of a registration may have.
    package static let counts = 1...64
    /// The longest text for people, in bytes as it was sent.
    package static let maximumText = 256
    /// The longest value, such as a preview, a placeholder, a default or an option, in bytes as it was sent.
    package static let maximumValue = 4_096
    package static let maximumParameters = 32
    /// Of one parameter.
    package static let maximumOptions = 100
    /// How many groups of a widget may take the accent colour.
    package static let maximumAccentedGroups = 16
    /// What a deadline may be.
    package static let deadlines: ClosedRange<Milliseconds> = 10...60_000
}
