import Glibc
import IsletFuzz

/// What libFuzzer calls with each input. Which target it is, `ISLET_FUZZ_TARGET` says: `scripts/fuzz` sets it.
private let target: FuzzTarget = {
    guard let name = getenv("ISLET_FUZZ_TARGET"), let target = FuzzTarget(rawValue: String(cString: name)) else {
        fatalError("ISLET_FUZZ_TARGET must be one of \(FuzzTarget.allCases.map(\.rawValue))")
    }
    return target
}()

@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    target.run(UnsafeBufferPointer(start: start, count: count).span)
    return 0
}
