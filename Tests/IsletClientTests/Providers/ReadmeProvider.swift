import IsletClient
import Synchronization

let torch = Mutex(false)  // whatever it is that is switched

struct TorchProvider: ControlValueProvider {
    let previewValue = false
    func currentValue() async throws -> Bool { torch.withLock { $0 } }
}

struct SetTorchIntent: SetValueIntent {
    var value = false
    func perform() async throws -> some IntentResult {
        torch.withLock { $0 = value }
        return .result(status: value ? "Lit" : "Dark")
    }
}

struct TorchControl: ControlWidget {
    var body: some ControlWidgetConfiguration {
        StaticControlConfiguration(kind: "com.example.torch", provider: TorchProvider()) { isLit in
            ControlWidgetToggle("Torch", isOn: isLit, action: SetTorchIntent()) { $0 ? "On" : "Off" }
        }
        .displayName("Torch")
    }
}

/// The README's lines outside of its types.
func runTorch() async throws {
    Islet.configure(app: "com.example.home")
    try await ProviderService { TorchControl() }.run()
}

func reloadTorch() async throws {
    try await ControlCenter.shared.reloadControls(ofKind: "com.example.torch")
    for control in try await ControlCenter.shared.currentControls() { print(control.kind, control.id) }
}
