import HTTPTypes
import HummingbirdCore
import IsletClient
import IsletServer
import NIOCore

/// The answers that are known as a whole.
extension Responder {
    // MARK: Watching over the service

    func metrics() async -> Reply {
        do throws(BridgeError) {
            let text = await (try bridge.shown).inspection.metrics()
            return Reply(
                status: .ok,
                fields: [
                    .contentType: "text/plain; version=0.0.4; charset=utf-8", .cacheControl: "no-store",
                ],
                body: text)
        } catch {
            return Reply(error)
        }
    }

    /// Whether the process does its work: one that starts does, and so does one whose disk is full or stalls. To start it again
    /// would make neither better.
    func health() async -> Reply {
        do throws(BridgeError) {
            switch await (try bridge.shown).inspection.health() {
            case .ok, .diskFull, .commitHangs: return .json(.ok, ["status": .string("ok")])
            case .stopping: return .json(.ok, ["status": .string("stopping")])
            case .notReady(let reason): return .json(.serviceUnavailable, ["status": .string(reason)])
            }
        } catch .starting {
            return .json(.ok, ["status": .string("starting")])
        } catch .stopping {
            return .json(.ok, ["status": .string("stopping")])
        } catch {
            return Reply(error)
        }
    }

    /// Whether it takes commands, and keeps its promise about them.
    func readiness() async -> Reply {
        do throws(BridgeError) {
            switch await (try bridge.shown).inspection.health() {
            case .ok: return .json(.ok, ["ready": .bool(true)])
            case .diskFull: return Self.notReady("diskFull")
            case .commitHangs: return Self.notReady("commitHangs")
            case .stopping: return Self.notReady("stopping")
            case .notReady(let reason): return Self.notReady(reason)
            }
        } catch .starting {
            return Self.notReady("starting")
        } catch .stopping {
            return Self.notReady("stopping")
        } catch {
            return Reply(error)
        }
    }

    private static func notReady(_ reason: String) -> Reply {
        .json(.serviceUnavailable, ["ready": .bool(false), "reason": .string(reason)])
    }

    static let ping = Array(#"{"op":"service.ping"}"#.utf8)

    // MARK: The board

    func session() -> Reply {
        do throws(BridgeError) {
            let card = try bridge.shown.card
            var session: RawObject = ["write": .bool(canWrite), "version": .string(ServiceCard.version)]
            session["speed"] = card.speed.flatMap(RawJSON.number)
            return .json(.ok, session)
        } catch {
            return Reply(error)
        }
    }

    /// Passes a command on to the service and its answer back.
    @concurrent
    func command(_ request: Request, _ body: inout RequestBytes, _ channel: any Channel) async throws -> Reply {
        let frame: [UInt8]
        switch try await json(request, &body, channel) {
        case .success(let bytes): frame = bytes
        case .failure(let refusal): return refusal.reply
        }
        do throws(CommandGate.Refusal) {
            try CommandGate(canWrite: canWrite).check(frame)
        } catch {
            return Self.reply(to: error)
        }
        do throws(BridgeError) {
            return .json(.ok, try await bridge.exchange(frame, timeout: HTTPLimits.commandTime))
        } catch {
            return Reply(error)
        }
    }

    /// A reply in the place of what was asked for.
    struct Refused: Error {
        let reply: Reply
    }

    /// The body of a request, where it is JSON by its type and not too long.
    @concurrent
    func json(
        _ request: Request, _ body: inout RequestBytes, _ channel: any Channel
    ) async throws -> Result<[UInt8], Refused> {
        guard Self.isJSON(request.headers[.contentType]) else {
            let text = "Content-Type: application/json is wanted"
            return .failure(Refused(reply: .refusal(.unsupportedMediaType, .badMessage, text)))
        }
        let tooLarge = Refused(reply: .refusal(.contentTooLarge, .badMessage, "a command has at most 64 KiB"))
        if let length = request.headers[.contentLength].flatMap(Int.init), length > HTTPLimits.commandBytes {
            return .failure(tooLarge)
        }
        let timer = channel.close(after: HTTPLimits.bodyTime)
        let read = try await body.read(upTo: HTTPLimits.commandBytes)
        timer.cancel()
        return read.map { .success($0) } ?? .failure(tooLarge)
    }

    /// Browsers send this type for another site's page only after asking, and they are not given leave.
    private static func isJSON(_ contentType: String?) -> Bool {
        let type = contentType?.prefix { $0 != ";" }.filter { $0 != " " && $0 != "\t" }
        return type?.lowercased() == "application/json"
    }

    private static func reply(to refusal: CommandGate.Refusal) -> Reply {
        switch refusal {
        case .unreadable: .refusal(.badRequest, .badMessage, "the body is no command: a JSON object with an op")
        case .readOnly(let op):
            .refusal(
                .forbidden, .unauthorized, "\(op) is a change, and the board only reads: start with --board-write")
        case .notForOthers(let op): .refusal(.forbidden, .unauthorized, "\(op) is not passed on from HTTP")
        case .wantsNoAnswer: .refusal(.badRequest, .badField, "ack: HTTP always gives an answer")
        }
    }
}
