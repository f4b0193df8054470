/// One placed widget's lifecycle.
package struct WidgetMachine: Equatable, Sendable, BitwiseCopyable {
    package internal(set) var state: WidgetState
    package internal(set) var cause: WidgetCause
}
