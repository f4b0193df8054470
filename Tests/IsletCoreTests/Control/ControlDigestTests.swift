import IsletCore
import Testing

/// Digests over a prefix while controls change.
@Suite("Controls: digests over several turns")
struct ControlDigestTests {
    @Test("what changes before, behind and beside the scan is in it, and it is the digest of its last moment")
    func scan() {
        let rig = ControlRig()
        rig.isChecked = false
        rig.declare("torch")
        rig.declare("torchbearer")
        rig.declare("lamp", "com.a", .bareButton)
        var ids: [EntityID] = []
        for index in 0..<17_500 {
            rig.add(index % 5 == 0 ? "torch" : index % 5 == 1 ? "torchbearer" : "lamp")
            ids.append(rig.latest)
            if index % 100 == 0 { rig.startActivity() }
        }
        let prefixes = [
            "com.a/", "com.a/control/torch/", "com.a/control/torch", "com.a/control/torch/\(ids[0])", "com.a/activity/",
            "com.a/control/none/",
        ]
        guard let app = rig.engine.apps.find(Array("com.a".utf8)) else { return complain("no app") }
        for (number, prefix) in prefixes.enumerated() {
            let hasBegun = rig.engine.beginDigest(number, app: app, prefix: Array(prefix.utf8))
            let early = rig.engine.continueDigest(number)
            #expect(hasBegun && early == nil, "there is more than one turn looks at")
        }
        // Those at the front were seen, those at the end were not.
        for id in [ids[0], ids[5], ids[17_495], ids[17_490]] { rig.tap(id) }
        rig.remove(ids[10])
        rig.remove(ids[17_485])
        rig.remove(ids[17_499])
        for kind in ["torch", "lamp", "torchbearer"] {
            for _ in 0..<3 { ids.append(rig.placed(kind)) }
        }
        rig.startActivity()
        for (number, prefix) in prefixes.enumerated() {
            guard let found = rig.engine.continueDigest(number) else {
                complain("\(prefix) is not through")
                continue
            }
            let expected = rig.observer.digest("com.a", prefix: prefix)
            #expect(found.digest.value == expected.value && found.entities == expected.entities, "\(prefix)")
        }
        rig.observer.check(rig.engine)
    }
}
