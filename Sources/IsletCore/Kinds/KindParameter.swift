/// A parameter of a configurable kind, of controls or of widgets (App Intents' `@Parameter`).
///
/// Texts are JSON strings with their quotes, byte for byte as they were declared; empty where absent.
package struct KindParameter: Equatable, Sendable {
    package enum ValueType: UInt8, Sendable, CaseIterable {
        case string, integer, number, boolean, `enum`, entity
    }

    package struct Option: Equatable, Sendable {
        /// The exact bytes of the JSON value.
        package var value: [UInt8]
        package var title: [UInt8]

        package init(value: [UInt8], title: [UInt8] = []) {
            self.value = value
            self.title = title
        }
    }

    package var name: [UInt8]
    package var type: ValueType
    package var title: [UInt8] = []
    /// The exact bytes of the JSON value; empty: none.
    package var defaultValue: [UInt8] = []
    package var isOptional = false
    package var options: [Option] = []
    /// The provider computes the options when it is asked.
    package var hasDynamicOptions = false

    package init(name: [UInt8], type: ValueType) {
        self.name = name
        self.type = type
    }

    /// Whether both mean the same, whatever they are written like. Options are offered in their order.
    func isAlike(_ other: KindParameter) -> Bool {
        name == other.name && type == other.type && isOptional == other.isOptional
            && hasDynamicOptions == other.hasDynamicOptions
            && ConfigurationForm.areEqual(values: title, other.title)
            && ConfigurationForm.areEqual(values: defaultValue, other.defaultValue)
            && options.elementsEqual(other.options) { one, other in
                ConfigurationForm.areEqual(values: one.value, other.value)
                    && ConfigurationForm.areEqual(values: one.title, other.title)
            }
    }
}
