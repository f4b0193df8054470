import IsletCore
import IsletServer

/// The epoch of a directory that was made of another one or of a backup: followers start again from a snapshot.
func freshEpoch() -> String {
    var random = SystemRandomNumberGenerator()
    return EntityID(
        version7At: Instant(ClockReading.system().wall), random: (random.next(), random.next())
    ).description
}
