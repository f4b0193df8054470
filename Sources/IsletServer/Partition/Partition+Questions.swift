import IsletCore
import IsletProtocol

/// Questions to providers: options, snapshots, recommendations, relevance.
extension Partition {
    func question(_ kind: ServedKind, _ sort: ProviderQuestion.Sort) -> ProviderQuestion {
        nextQuestion += 1
        return ProviderQuestion(number: nextQuestion, kind: kind, sort)
    }

    /// Asks a provider for a command, which is answered when its answer is there.
    func ask(
        _ question: ProviderQuestion, within limit: Milliseconds, _ envelope: Envelope, _ frame: Span<UInt8>
    ) -> FrameResult {
        switch request(question, within: min(envelope.ttl ?? limit, limit)) {
        case .noProvider: return refuse(envelope, frame, .unavailable(.noProvider))
        case .busy: return refuse(envelope, frame, .busy(retryAfter: 100))
        case .accepted: break
        }
        let result = later(.question(question), envelope, frame)
        if case .later = result { return result }
        giveUp(question)
        return result
    }

    /// Nobody waits for a question's answer any more.
    func giveUp(_ question: ProviderQuestion) {
        questions[question.number] = nil
        _ = providers.cancel(.question(question.number), .superseded, at: now.monotonic)
    }

    /// Asks for the relevance of a kind's widgets; nobody waits for it, and where it cannot be had the last one stays
    /// until it is asked for again.
    ///
    /// One question is out for a kind at a time. Whatever asks meanwhile becomes one with those that did before, and is
    /// asked when that one is over: so no answer is older than one that was taken, and timelines are not kept waiting.
    func askRelevance(of kind: DeclaredKindID) {
        guard let declaration = engine.widgets.kinds[kind].declaration, declaration.providesRelevance else {
            return relevanceRetries.forget(kind)
        }
        guard relevanceQuestions[kind] == nil else {
            relevanceQuestions[kind]?.isDirty = true
            return
        }
        let question = question(.widget(kind), .relevance)
        switch request(question, within: declaration.timelineDeadline) {
        case .accepted:
            relevanceQuestions[kind] = RelevanceQuestion(number: question.number)
            relevanceRetries.asked(kind)
        case .busy: relevanceRetries.failed(kind, at: now.domain, engine.rules)
        // Whoever comes is asked.
        case .noProvider: relevanceRetries.forget(kind)
        }
    }

    /// A kind has providers again, or is declared otherwise: what failed before says nothing of what comes.
    func askRelevanceAnew(of kind: DeclaredKindID) {
        relevanceRetries.forget(kind)
        askRelevance(of: kind)
    }

    /// Asks for the relevance of kinds that it could not be had of, some in a turn.
    func retryRelevance() {
        var left = Self.relevanceRetriesPerTurn
        while left > 0, let kind = relevanceRetries.takeDue(at: now.domain) {
            left -= 1
            askRelevance(of: kind)
        }
    }

    private static let relevanceRetriesPerTurn = 256

    /// Whether it is time for one of them.
    var hasRelevanceToRetry: Bool { relevanceRetries.next.map { $0 <= now.domain } ?? false }

    /// A question for relevance is over.
    ///
    /// - Parameter failure: why it could not be had; none where it was answered.
    private func relevanceEnded(_ question: ProviderQuestion, _ failure: CallFailure) {
        questions[question.number] = nil
        guard case .widget(let kind) = question.kind, let asked = relevanceQuestions[kind],
            asked.number == question.number
        else { return }
        relevanceQuestions[kind] = nil
        switch failure {
        case .none, .noProvider: relevanceRetries.forget(kind)
        case .timedOut, .providerLost, .threw, .badAnswer, .busy, .unknownOutcome:
            relevanceRetries.failed(kind, at: now.domain, engine.rules)
        }
        if asked.isDirty { askRelevance(of: kind) }
    }

    /// What was asked so far about recommendations is not kept any more; of one kind, or of all of an app.
    ///
    /// - Parameter isDeclaredAnew: because the kind is declared otherwise than it was.
    func outdateRecommendations(_ app: AppID, _ only: DeclaredKindID? = nil, isDeclaredAnew: Bool = false) {
        for question in questions.values {
            guard case .recommendations = question.sort, case .widget(let kind) = question.kind,
                engine.widgets.kinds.app(of: kind) == app, only.map({ $0 == kind }) ?? true
            else { continue }
            question.isOutdated = true
            if isDeclaredAnew { question.isOfOlderDeclaration = true }
        }
    }

    private func request(_ question: ProviderQuestion, within: Milliseconds) -> ProviderTable.Request {
        let request = providers.request(
            .question(question.number), kind: question.kind.number, within: within, isAwaited: question.isAwaited,
            at: now.monotonic)
        if request == .accepted { questions[question.number] = question }
        return request
    }

    /// Writes a question's call; false where nobody waits for it any more.
    func writeQuestion(_ call: CallID, _ number: UInt64, attempt: Int, within: Milliseconds) -> Bool {
        guard let question = questions[number] else { return false }
        switch (question.kind, question.sort) {
        case (.control(let kind), .controlOptions(let parameter, let configuration)):
            callWriter.providerCall(
                call.value, optionsOf: kind, parameter, configuration, attempt: attempt, within: within, of: engine)
        case (.widget(let kind), .widgetOptions(let parameter, let configuration, let query, let identifiers)):
            callWriter.providerCall(
                call.value, widgetOptionsOf: kind, parameter, configuration: configuration, query: query,
                identifiers: identifiers, now: now.domain, attempt: attempt, within: within, of: engine)
        case (.widget(let kind), .snapshot(let family, let configuration, let isPreview)):
            callWriter.providerCall(
                call.value, snapshotOf: kind, family: family, configuration: configuration, isPreview: isPreview,
                now: now.domain, attempt: attempt, within: within, of: engine)
        case (.widget(let kind), .recommendations):
            callWriter.providerCall(
                call.value, recommendationsOf: kind, now: now.domain, attempt: attempt, within: within, of: engine)
        case (.widget(let kind), .relevance):
            callWriter.providerCall(
                call.value, relevanceOf: kind, now: now.domain, attempt: attempt, within: within, of: engine)
        case (.control, _), (.widget, .controlOptions): preconditionFailure("a question of the other family")
        }
        return true
    }

    /// A provider answered a question; why that is no answer, where it is none.
    func questionAnswered(_ number: UInt64, _ answer: ProviderAnswer, _ frame: Span<UInt8>) -> Refusal? {
        guard let question = questions[number] else { return nil }
        let bad = Refusal.badAnswer(call: answer.call, .wrongType)
        switch question.sort {
        case .controlOptions, .widgetOptions:
            guard let value = answer.value, KindParameter.Option.areOptions(frame, at: value) else { return bad }
            question.answer = .success(frame.bytes(value))
        case .snapshot(let family, _, _):
            do throws(BadTimeline) {
                let entry = try TimelineReading.readSnapshot(frame, entries: answer.entries, family: family)
                question.answer = .success(frame.bytes(entry.bytes))
            } catch {
                return .badTimeline(call: answer.call, error)
            }
        case .recommendations:
            guard let value = answer.value, case .widget(let kind) = question.kind,
                let declaration = engine.widgets.kinds[kind].declaration,
                RecommendationsReading.areRecommendations(frame, at: value, for: declaration)
            else {
                guard question.isOfOlderDeclaration else { return bad }
                // It may fit the declaration that was there when it was asked, which its provider cannot tell.
                question.answer = .failure(.providerFailed)
                return nil
            }
            if !question.isOutdated {
                // Those that were asked before are older, whenever they are answered.
                outdateRecommendations(engine.widgets.kinds.app(of: kind), kind)
                engine.setRecommendations(kind, frame.bytes(value))
                encodeEvents(Span(), nil)
            }
            question.answer = .success(frame.bytes(value))
        case .relevance:
            guard let value = answer.value, case .widget(let kind) = question.kind,
                let relevances = RelevanceReading.read(frame, at: value),
                let declaration = engine.widgets.kinds[kind].declaration
            else { return bad }
            if declaration.providesRelevance {
                engine.setRelevance(kind, relevances, json: frame.bytes(value), at: now.domain)
                encodeEvents(Span(), nil)
            }
            relevanceEnded(question, .none)
        }
        return nil
    }

    func questionFailed(_ number: UInt64, _ failure: CallFailure) {
        guard let question = questions[number] else { return }
        if case .relevance = question.sort { relevanceEnded(question, failure) }
        switch failure {
        case .noProvider: question.answer = .failure(.noProvider)
        case .timedOut: question.answer = .failure(.providerTimedOut)
        case .none, .providerLost, .threw, .badAnswer, .busy, .unknownOutcome:
            question.answer = .failure(.providerFailed)
        }
    }

    /// The answer to the command that asked, once the provider's is there.
    func finish(_ question: ProviderQuestion, _ job: Job) -> FrameResult? {
        guard let given = question.answer else { return nil }
        questions[question.number] = nil
        let req = job.req
        switch given {
        case .failure(let reason): return refuse(job.envelope, req.span, .unavailable(reason))
        case .success(let json):
            return answer { writer in
                writer.beginAnswer(job.envelope, req.span, ok: true)
                writer.field(question.sort.member, raw: json.span)
                writer.endObject()
            }
        }
    }
}

extension Partition {
    /// The op by which a provider is asked a question.
    func opOfQuestion(_ number: UInt64) -> StaticString {
        switch questions[number]?.sort {
        case .controlOptions: "control.options"
        case .widgetOptions: "widget.options"
        case .snapshot: "widget.snapshot"
        case .recommendations: "widget.recommendations"
        // Nobody waits for it any more, which only the table does not know yet.
        case .relevance, nil: "widget.relevance"
        }
    }
}

extension ProviderQuestion.Sort {
    /// The member of the answer that shows it.
    fileprivate var member: StaticString {
        switch self {
        case .controlOptions, .widgetOptions: "options"
        case .snapshot: "snapshot"
        case .recommendations: "recommendations"
        case .relevance: "relevance"
        }
    }
}
