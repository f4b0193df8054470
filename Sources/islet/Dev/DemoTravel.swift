import FoundationEssentials

/// The travel app of the demo: the truth about its flights and its weather, which its widgets show.
actor DemoTravel {
    static let app = "com.example.travel"

    private var seats: (flight: Int, seat: String)?
    /// How often the gate was changed.
    private var gateChanges = 0
    /// The flight that was last looked at: the one to check in for.
    private var latest = 0

    /// The flight that matters at a date, as it is known now.
    func flight(at date: Date) -> DemoFlight {
        let flight = DemoFlight(at: date)
        latest = flight.number
        return flight
    }

    /// Where a flight leaves from.
    func gate(of flight: DemoFlight) -> String {
        "\(["A", "B", "C"][(flight.number + gateChanges) % 3])\((flight.number * 7 + gateChanges) % 40 + 1)"
    }

    /// The seat, once somebody has checked in.
    func seat(of flight: DemoFlight) -> String? {
        seats.flatMap { $0.flight == flight.number ? $0.seat : nil }
    }

    /// Checks in for the flight that the widgets show.
    func checkIn(seat: String) {
        seats = (latest, seat)
    }

    /// The latest flight leaves from somewhere else.
    func changeGate() {
        gateChanges += 1
    }
}
