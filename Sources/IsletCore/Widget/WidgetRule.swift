/// The rule that made a decision about a widget: a row of the fact sheet's table, or one of this service.
///
/// Journals keep its number: new rules are added at the end, and none is ever taken away.
package enum WidgetRule: UInt8, Sendable, BitwiseCopyable, CaseIterable {
    case added, removed
}
