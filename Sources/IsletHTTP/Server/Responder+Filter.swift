import HTTPTypes
import HummingbirdCore
import IsletClient
import IsletFilter
import NIOCore

/// Reading filters, so that the board has the command's grammar and none of its own.
extension Responder {
    /// Reads the filter of `{"text":…}`: what the board carries out, or what is wrong with it.
    @concurrent
    func filter(_ request: Request, _ body: inout RequestBytes, _ channel: any Channel) async throws -> Reply {
        let frame: [UInt8]
        switch try await json(request, &body, channel) {
        case .success(let bytes): frame = bytes
        case .failure(let refusal): return refusal.reply
        }
        guard let question = RawObject(frame), let text = question["text"]?.string, question.members.count == 1 else {
            return .refusal(.badRequest, .badMessage, "the body is no filter: a JSON object with its text")
        }
        do throws(FilterError) {
            let filter = try Filter(text, for: .activity, words: .anywhere)
            return .json(
                .ok, ["ok": .bool(true), "filter": filter.json, "needsNow": .bool(filter.needsNow)] as RawObject)
        } catch {
            return .refusal(.badRequest, .badField, error.sentence)
        }
    }
}
