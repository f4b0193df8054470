import Glibc
package import IsletServer
package import Logging

extension HTTPService {
    /// The pages as they are configured; nil: none.
    ///
    /// `ISLET_BOARD_FILES` names a folder of the board's files for those who work on them.
    package init?(_ configuration: ServeConfiguration, logger: Logger) {
        guard let address = configuration.http else { return nil }
        let folder = getenv("ISLET_BOARD_FILES").map { String(cString: $0) }
        self.init(address, canWrite: configuration.boardWrite, boardFiles: folder, logger: logger)
    }

    /// The service that is shown serves now.
    package func show(_ card: ServiceCard, _ inspection: ServiceInspection) {
        show(
            card, Inspection(metrics: { await inspection.metricsText() }, health: { await inspection.health() }))
    }
}
